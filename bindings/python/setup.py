from setuptools import setup

setup(cffi_modules=["build_peal.py:builder"])
