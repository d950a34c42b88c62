"""The measured process: ``python -m steptime.worker RUN_FOLDER``. Nobody imports it; it leaves a record."""
