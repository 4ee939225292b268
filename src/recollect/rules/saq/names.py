"""Names of tools, languages, jobs and pastimes that a rule can recognise a value by."""

from recollect.rules.word_lists import entries

DATABASES = entries(
    """postgres|postgresql|mysql|mariadb|sqlite|mongodb|mongo|redis|cassandra|dynamodb|cockroachdb|oracle|sql server
    mssql|duckdb|clickhouse|neo4j|couchdb|firestore|supabase|planetscale|influxdb|timescaledb|scylladb|elasticsearch
    bigquery|snowflake|redshift|aurora|tidb|rocksdb|leveldb|lmdb|chroma|qdrant|weaviate|milvus|pinecone"""
)
PROGRAMMING_LANGUAGES = entries(
    """python|rust|go|golang|java|kotlin|scala|clojure|javascript|typescript|ruby|php|perl|c|c++|c#|f#|swift
    objective-c|haskell|ocaml|elixir|erlang|elm|dart|lua|julia|r|zig|nim|crystal|fortran|cobol|pascal|lisp
    common lisp|scheme|racket|prolog|groovy|bash|matlab|ada|d|v|solidity|assembly"""
)
CI_PROVIDERS = entries(
    """github actions|gitlab ci|gitlab|circleci|circle ci|jenkins|travis|travis ci|buildkite|teamcity|bamboo|drone
    azure pipelines|azure devops|bitbucket pipelines|woodpecker|concourse|appveyor|tekton|semaphore|codebuild"""
)
PACKAGE_MANAGERS = entries(
    """npm|pnpm|yarn|bun|pip|uv|poetry|pipenv|conda|mamba|hatch|pdm|cargo|maven|gradle|sbt|nuget|composer|bundler
    cocoapods|brew|homebrew|apt|nix|vcpkg|conan"""
)
BRANCHES = entries(
    "main|master|develop|development|dev|trunk|production|prod|staging|release|next|stable|default|mainline"
)

LANGUAGES = entries(
    """afrikaans|albanian|amharic|arabic|armenian|basque|bengali|bosnian|bulgarian|cantonese|catalan|chinese|croatian
    czech|danish|dutch|english|esperanto|estonian|farsi|finnish|flemish|french|galician|georgian|german|greek|gujarati
    hebrew|hindi|hungarian|icelandic|indonesian|irish|italian|japanese|kannada|kazakh|khmer|korean|kurdish|latin|latvian
    lithuanian|macedonian|malay|maltese|mandarin|marathi|mongolian|nepali|norwegian|pashto|persian|polish|portuguese
    punjabi|romanian|russian|sanskrit|serbian|slovak|slovenian|somali|spanish|swahili|swedish|swiss german|tagalog|tamil
    telugu|thai|tibetan|turkish|ukrainian|urdu|uzbek|vietnamese|welsh|yiddish|yoruba|zulu
    sign language|american sign language|brazilian portuguese"""
)
INSTRUMENTS_AND_SPORTS = entries(
    """guitar|bass|bass guitar|electric guitar|acoustic guitar|piano|keyboard|violin|viola|cello|double bass|flute
    clarinet|oboe|saxophone|trumpet|trombone|tuba|harp|drums|ukulele|banjo|mandolin|accordion|harmonica|organ|recorder
    football|soccer|basketball|baseball|tennis|table tennis|badminton|squash|volleyball|hockey|ice hockey|field hockey
    rugby|cricket|golf|chess|go|poker|bridge|darts|pool|billiards|handball|lacrosse|water polo|padel|pickleball"""
)
DIETS = entries("vegan|vegetarian|pescatarian|pescetarian|flexitarian|omnivore|carnivore")
MARITAL_STATUSES = entries("single|married|engaged|divorced|widowed|separated")

DEMONYMS = entries(
    """african|american|argentinian|asian|australian|austrian|belgian|brazilian|british|bulgarian|canadian|chilean|chinese
    colombian|croatian|cuban|czech|danish|dutch|egyptian|english|estonian|ethiopian|european|filipino|finnish|french
    german|ghanaian|greek|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican|japanese
    jordanian|kenyan|korean|latvian|lebanese|lithuanian|malaysian|mexican|moroccan|nepalese|nigerian|norwegian|pakistani
    peruvian|polish|portuguese|romanian|russian|scottish|serbian|singaporean|slovak|slovenian|somali|spanish|swedish|swiss
    syrian|taiwanese|thai|tunisian|turkish|ukrainian|venezuelan|vietnamese|welsh|bavarian|catalan|basque|texan|californian
    buddhist|catholic|christian|hindu|jewish|muslim|orthodox|protestant|sikh|atheist|mormon|republican|democrat"""
)
"""What people are, as against what they are called: "my wife is German" gives no name."""

JUDGEMENTS = entries(
    """excellent|careful|terrible|safe|talented|brilliant|passionate|skilled|skillful|lousy|born|natural|true|real|proud
    wonderful|gifted|experienced|inspiring|kind|caring|dedicated|hopeless|mediocre|decent|fellow|fast|tough|strict|former
    retired|aspiring|future|wannabe|part-time|huge|big|bit"""
)
"""What is said about how somebody does a job, or about another time."""

JOBS = entries(
    """accountant|actuary|administrator|analyst|architect|attorney|barista|barber|biologist|bookkeeper|broker|butcher
    carpenter|cashier|ceo|cfo|chef|chemist|cleaner|clerk|consultant|cto|dentist|dermatologist|detective|developer
    dietitian|director|doctor|economist|editor|electrician|engineer|farmer|firefighter|florist|gardener
    geologist|hairdresser|historian|janitor|journalist|judge|lawyer|lecturer|librarian|machinist|manager|mechanic
    midwife|neurologist|nurse|officer|optician|paralegal|paramedic|pediatrician|pharmacist|physician|physicist
    physiotherapist|pilot|plumber|policeman|postman|producer|professor|programmer|psychiatrist|psychologist
    radiologist|realtor|receptionist|recruiter|researcher|salesman|scientist|secretary|surgeon|surveyor|tailor|teacher
    technician|therapist|translator|tutor|vet|veterinarian|waiter|waitress|welder"""
)
"""Occupations that people are paid for. Callings that sit beside one (writer, dancer, gamer) are left out."""
