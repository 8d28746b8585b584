--
COPY public.xxl_job_info (id) FROM stdin;
1
