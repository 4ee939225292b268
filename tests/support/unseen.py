"""What can be changed in a store without ``verify`` noticing, and why; ``docs/ledger.md`` has the same list."""

UNSEEN: dict[tuple[str, str], str] = {
    (
        "streams",
        "namespace",
    ): "of a stream whose owner was erased, which nobody reads; elsewhere each version says it too",
    ("streams", "space"): "of a stream whose owner was erased, which nobody reads; elsewhere each version says it too",
    ("streams", "generation"): "of a stream whose owner was erased, which has no vectors",
    ("streams", "embedder"): "whoever opens it with the embedder that made the vectors is told that they are another's",
    ("streams", "next_embedder"): "only a change of embedder looks at it, and begins anew if it is another's",
    ("vectors", "codes"): "derived from the content, which is committed to: rebuild makes them anew",
    ("log_checkpoints", "tenant"): "taking away a checkpoint that nobody signed leaves the log as it is",
    ("log_checkpoints", "at"): "when a checkpoint was taken that nobody signed is a claim",
    ("log_signatures", "tenant"): "taking away a signature leaves a checkpoint that nobody signed",
    ("platform_ids", "tenant"): "taking away a link leaves an id that nobody linked",
    ("postings", "length"): "the row that counts a term's postings has no text, and nobody reads its length",
    **{
        (table, column): f"outside the ledger by design: {why}"
        for table, columns, why in (
            ("accesses", "tenant id count last", "counters of reading"),
            ("policies", "tenant hash body", "traces"),
            ("traces", "tenant number at type stream memory_id policy body", "traces"),
            (
                "operations",
                "tenant at number user_id thread_id node op status memory_id category similarity",
                "operational events",
            ),
            (
                "thread_revisions",
                "tenant user_id agent thread_id rev moves newest_stream round_until",
                "how far threads have been told what changed",
            ),
            (
                "cursors",
                "tenant user_id agent thread_id stream seq shown",
                "how far threads have been told what changed",
            ),
            ("graph_threads", "tenant user_id thread_id uid head created_at updated_at", "the state of running graphs"),
            (
                "graph_checkpoints",
                "tenant thread ns id parent_id run_id saved_at rebuilt type body metadata_type metadata",
                "the state of running graphs",
            ),
            ("graph_channels", "tenant thread ns checkpoint channel digest", "the state of running graphs"),
            ("graph_values", "tenant thread digest type value", "the state of running graphs"),
            (
                "graph_writes",
                "tenant thread ns checkpoint task_id idx task_path channel type value",
                "the state of running graphs",
            ),
            ("model_runs", "tenant id job stream started_at ended_at outcome reason secret", "runs of models"),
            (
                "model_calls",
                "tenant run_id number at job template template_version prompt_seal model max_tokens temperature seed calls"
                " prompt_tokens answer_tokens estimated cost_millionths duration_ms outcome",
                "runs of models",
            ),
            ("model_call_sources", "tenant run_id number memory_id", "runs of models"),
            (
                "model_proposals",
                "tenant id run_id at job stream action status reason memory_id pair sources body",
                "runs of models",
            ),
            ("model_spending", "day number prompt_tokens answer_tokens cost_millionths", "runs of models"),
            ("worker_cursors", "tenant stream job seq at", "how far workers have come"),
            ("worker_leases", "tenant holder number until last_round", "how far workers have come"),
            (
                "access_keys",
                "tenant id digest name user_id agent projects rights created_at expires_at revoked_at last_used",
                "the keys of a server's clients",
            ),
            ("retries", "tenant key digest salt outcome memory_id reasons at answer", "answers kept for a retry"),
        )
        for column in columns.split()
    },
}
"""What can be changed without ``verify`` noticing. Beyond single cells: replacing a version's body and salt together with
its commitment, every later hash of the stream and its head; cutting off a chain's end together with its head; removing
a stream whole, and putting the checkpoint log right as well. A checkpoint that was kept elsewhere reveals those: see
``test_rewritten_history.py``."""
