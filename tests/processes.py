"""Processes for tests that need several at once, forked from one that has Recollect loaded: an import takes a second."""

import multiprocessing

forked = multiprocessing.get_context("forkserver")
forked.set_forkserver_preload(["recollect.compose", "recollect.stores.postgres", "recollect.rules.statements"])
