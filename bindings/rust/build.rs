//! Links libpeal as pkg-config says.
use std::env;
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let answer = Command::new(&program).args(["--libs", "peal"]).output();
    let flags = match answer {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        Ok(output) => explain(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => explain(&format!("{program}: {error}")),
    };
    for flag in flags.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}

fn explain(said: &str) -> ! {
    eprintln!(
        "libpeal was not found: {}\nInstall it with `make install` in peal's source tree, and if \
         that is not below /usr, say where:\nPKG_CONFIG_PATH=PREFIX/lib/pkgconfig cargo build",
        said.trim()
    );
    exit(1)
}
