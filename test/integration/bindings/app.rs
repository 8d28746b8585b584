//! The program of the test: see bindings_test.sh.
//!
//!     app FILE [bad | coordinate | trigger NAME [KEY=VALUE]...]
use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{Result, Write};
use std::time::{Duration, UNIX_EPOCH};

use peal::{Kind, Options, Outcome, Overlap, Run};

const HOUR: Duration = Duration::from_secs(3600);

fn note(what: &str, line: impl Display) -> Result<()> {
    let path = format!("{}.{}", env::args().nth(1).unwrap_or_default(), what);
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

fn tick(run: &Run) -> Outcome {
    note("ticks", run.tick().duration_since(UNIX_EPOCH)?.as_secs())?;
    Ok(())
}

fn greet(run: &Run) -> Outcome {
    run.progress(50, "words");
    let who = run.param("who").ok_or("nobody is there")?;
    if run.param("other").is_some() {
        return Err("a parameter that was not given".into());
    }
    run.log(format!("hello {who}"));
    note("greeted", format!("{who} {} {} {}", run.job(), run.attempt(), run.id()))?;
    Ok(())
}

fn slow(run: &Run) -> Outcome {
    note("slow", run.id())?;
    let slept = run.sleep(HOUR);
    if run.cancelled() && slept.as_ref().err().map(|error| error.kind) == Some(Kind::Lost) {
        run.log("told to stop");
    }
    Ok(slept?)
}

fn bad() -> Outcome {
    let pass = |_: &Run| Ok(());
    for (name, schedule) in [("bad", "75 * * * *"), ("tick", "@daily")] {
        if let Err(error) = peal::every(name, schedule, pass).register() {
            println!("{:?} {error}", error.kind);
        }
    }
    let away = Options {
        store: Some("etcd://127.0.0.1:1/x".into()),
        timeout: Duration::from_millis(100),
        ..Default::default()
    };
    if let Err(error) = away.open() {
        println!("{:?} {error}", error.kind);
    }
    let node = Options { log: Some(Box::new(|_, _| ())), ..Default::default() }.open()?;
    node.every("own", "@daily", pass).local().register()?;
    if let Err(error) = node.remove("nobody") {
        println!("{:?} {error}", error.kind);
    }
    Ok(())
}

fn coordinate() -> Outcome {
    let first = peal::claim("backup").id("one").lock()?;
    println!("held {} {}", first.is_held(), first.fence() > 0);
    if let Err(error) = peal::claim("backup").wait(Duration::from_millis(100)).lock() {
        println!("busy {} {error}", error.kind == Kind::Busy);
    }
    let fence = first.fence();
    first.release()?;
    println!("grows {}", peal::claim("backup").wait_forever().lock()?.fence() > fence);
    let lead = peal::claim("chief").id("one").elect()?;
    println!("leads {} {}", lead.is_held(), peal::who_leads("chief")?);
    drop(lead);
    let nobody = peal::who_leads("chief").err().map(|error| error.kind);
    println!("nobody {}", nobody == Some(Kind::NotFound));
    let minute = Duration::from_secs(60);
    let (is_one, one) = peal::select("mailer", Some("one"), minute)?;
    let (is_two, two) = peal::select("mailer", Some("two"), minute)?;
    println!("{is_one} {one} {is_two} {two}");
    Ok(())
}

fn trigger(name: &str, words: &[String]) -> Outcome {
    let params: Vec<(&str, &str)> = words.iter().filter_map(|word| word.split_once('=')).collect();
    let node = Options { program: Some("asker".into()), ..Default::default() }.open()?;
    println!("{}", node.trigger(name, &params)?);
    Ok(())
}

fn main() -> Outcome {
    peal::every("tick", "* * * * * *", tick).register()?;
    peal::every("greet", "", greet).more("params: {who: {default: nobody}}").register()?;
    peal::every("fails", "", |_| Err("no luck today".into())).register()?;
    peal::every("panics", "", |_| panic!("out of {}", "luck")).register()?;
    peal::every("slow", "", slow).timeout(HOUR).overlap(Overlap::Skip).register()?;
    let words: Vec<String> = env::args().skip(2).collect();
    match words.first().map(String::as_str) {
        Some("bad") => bad(),
        Some("coordinate") => coordinate(),
        Some("trigger") => trigger(&words[1], &words[2..]),
        _ => Ok(peal::run_forever()?),
    }
}
