CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE public.mem0 (
    id uuid NOT NULL,
    vector public.vector(8),
    payload jsonb
);
INSERT INTO public.mem0 VALUES ('c7a466d2-4884-499d-96f4-13551c16e4e8', '[0.3882353,0.3529412,0.41960785,0.9019608,0.5411765,0.6784314,0.4117647,0.83137256]', '{"data": "Ana is allergic to peanuts", "hash": "9532205da8f2a0f597b0dcd7e4715cd5", "role": "user", "run_id": "r1", "user_id": "ana", "agent_id": "planner", "created_at": "2026-11-16T08:21:25.862781+00:00", "updated_at": "2026-11-16T08:21:25.862781+00:00", "text_lemmatized": "Ana is allergic to peanuts"}');
INSERT INTO public.mem0 VALUES ('533b5fd4-0194-4576-b28d-3982f7fe8705', '[0.5764706,0.827451,0.3764706,0.6,0.24313726,0.74509805,0.23137255,0.22745098]', '{"data": "I prefer dark mode", "hash": "c46790e4d050fa603633a2b96ff04ea0", "role": "user", "user_id": "ana", "category": "ui", "created_at": "2026-11-16T08:21:25.999071+00:00", "updated_at": "2026-11-16T08:21:25.999071+00:00", "text_lemmatized": "I prefer dark mode"}');
INSERT INTO public.mem0 VALUES ('2f2dbfa8-4b2a-4d09-863e-d7c0e3044cfb', '[0.827451,0.9607843,0.015686275,0.4862745,0.5686275,0.07058824,0.4627451,0.6156863]', '{"data": "Noted, dark mode it is.", "hash": "c8b769908f5e8dc08c4fd09828830ac4", "role": "assistant", "user_id": "ana", "category": "ui", "created_at": "2026-11-16T08:21:26.042722+00:00", "updated_at": "2026-11-16T08:21:26.042722+00:00", "text_lemmatized": "Noted, dark mode it is."}');
INSERT INTO public.mem0 VALUES ('2caa8573-080f-4afa-8db8-1b5d106e52ea', '[0.76862746,0.07058824,0.06666667,0.52156866,0.3647059,0.99215686,0.16078432,0.4862745]', '{"data": "The office is in Basel", "hash": "5cdef99f050fe380806d9f53eec49779", "role": "user", "user_id": "ben", "created_at": "2026-11-16T08:21:26.078762+00:00", "updated_at": "2026-11-16T08:21:26.116112+00:00", "text_lemmatized": "The office is in Basel"}');
INSERT INTO public.mem0 VALUES ('b12dfbd6-7eae-4cff-8007-2866ccf29611', '[0.2627451,0.43529412,0.3137255,0.32941177,0.8039216,0.18039216,0.05882353,0.83137256]', '{"data": "Ana lives in Porto since May", "hash": "f9a30fd46dcea330434225a7d1b4837d", "role": "user", "user_id": "ana", "created_at": "2026-11-16T08:21:26.141654+00:00", "updated_at": "2026-11-16T08:21:26.185957+00:00", "text_lemmatized": "Ana lives in Porto since May"}');
ALTER TABLE ONLY public.mem0
    ADD CONSTRAINT mem0_pkey PRIMARY KEY (id);
CREATE INDEX mem0_hnsw_idx ON public.mem0 USING hnsw (vector public.vector_cosine_ops);
CREATE INDEX mem0_text_lemmatized_idx ON public.mem0 USING gin (to_tsvector('simple'::regconfig, (payload ->> 'text_lemmatized'::text)));
