"""Countries, states and large cities: enough to tell "moved to Porto" from "moved to Kubernetes"."""

from recollect.rules.word_lists import entries

COUNTRIES = entries(
    """afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|azerbaijan|bahamas|bahrain
    bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia|botswana|brazil|brunei|bulgaria|cambodia
    cameroon|canada|chad|chile|china|colombia|congo|costa rica|croatia|cuba|cyprus|czechia|czech republic|denmark
    dominican republic|ecuador|egypt|el salvador|england|eritrea|estonia|ethiopia|fiji|finland|france|gabon|gambia
    georgia|germany|ghana|greece|greenland|guatemala|guinea|guyana|haiti|honduras|hong kong|hungary|iceland|india
    indonesia|iran|iraq|ireland|israel|italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|kosovo|kuwait
    kyrgyzstan|laos|latvia|lebanon|liberia|libya|liechtenstein|lithuania|luxembourg|madagascar|malawi|malaysia
    maldives|mali|malta|mauritania|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar
    namibia|nepal|netherlands|new zealand|nicaragua|niger|nigeria|north korea|north macedonia|northern ireland|norway
    oman|pakistan|palestine|panama|paraguay|peru|philippines|poland|portugal|puerto rico|qatar|romania|russia|rwanda
    saudi arabia|scotland|senegal|serbia|sierra leone|singapore|slovakia|slovenia|somalia|south africa|south korea
    spain|sri lanka|sudan|suriname|sweden|switzerland|syria|taiwan|tajikistan|tanzania|thailand|togo
    trinidad and tobago|tunisia|turkey|turkmenistan|uae|uganda|uk|ukraine|united arab emirates|united kingdom
    united states|uruguay|us|usa|uzbekistan|venezuela|vietnam|wales|yemen|zambia|zimbabwe"""
)

STATES = entries(
    """alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana
    iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana
    nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania
    rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|west virginia|wisconsin|wyoming
    ontario|quebec|alberta|british columbia|manitoba|nova scotia|bavaria|saxony|hesse|catalonia|andalusia|tuscany
    sicily|lombardy|brittany|provence|normandy|new south wales|queensland|tasmania|kerala|punjab"""
)

CITIES = entries(
    """aberdeen|abu dhabi|accra|adelaide|ahmedabad|albuquerque|alexandria|algiers|amman|amsterdam|anchorage|ankara
    antwerp|athens|atlanta|auckland|austin|baghdad|bali|baltimore|bangalore|bangkok|barcelona|basel|bath|beijing
    beirut|belfast|belgrade|bengaluru|bergen|berlin|bern|bilbao|birmingham|bogota|bologna|bombay|bonn|bordeaux|boston
    boulder|bratislava|bremen|brighton|brisbane|bristol|brno|bronx|brooklyn|brussels|bucharest|budapest|buenos aires
    buffalo|cairo|calgary|cambridge|canberra|cape town|caracas|cardiff|casablanca|charlotte|chennai|chicago|cincinnati
    cleveland|coimbra|cologne|columbus|copenhagen|cork|dakar|dallas|damascus|delhi|denver|detroit|dhaka|doha|dortmund
    dresden|dubai|dublin|durban|dusseldorf|düsseldorf|edinburgh|edmonton|eindhoven|essen|eugene|faro|florence
    frankfurt|fukuoka|galway|gdansk|geneva|genoa|ghent|glasgow|gothenburg|granada|graz|grenoble|guadalajara|hague
    halifax|hamburg|hangzhou|hannover|hanoi|havana|heidelberg|helsinki|hiroshima|ho chi minh city|honolulu|houston
    hyderabad|indianapolis|innsbruck|istanbul|jakarta|jeddah|jerusalem|johannesburg|kabul|kansas city|karachi
    karlsruhe|kathmandu|kharkiv|kiev|kingston|kolkata|krakow|kuala lumpur|kuwait city|kyiv|kyoto|lagos|lahore
    las vegas|lausanne|leeds|leicester|leiden|leipzig|lille|lima|linz|lisbon|liverpool|ljubljana|london|los angeles
    louisville|luxembourg city|lviv|lyon|madison|madrid|malaga|málaga|malmo|malmö|manchester|manhattan|manila|mannheim
    marrakesh|marseille|medellin|medellín|melbourne|memphis|mexico city|miami|milan|milwaukee|minneapolis|minsk
    montevideo|montpellier|montreal|montréal|moscow|mumbai|munich|munster|münster|muscat|nagoya|nairobi|nantes|naples
    nashville|new delhi|new orleans|new york|new york city|newcastle|nice|nicosia|nottingham|novi sad|nuremberg|oakland
    odesa|odessa|omaha|orlando|osaka|oslo|ottawa|oxford|palermo|palo alto|panama city|paris|perth|philadelphia|phoenix
    pisa|pittsburgh|porto|prague|pristina|pune|quebec city|queens|quito|raleigh|reykjavik|riga|rio de janeiro|riyadh
    rome|rotterdam|sacramento|salt lake city|salzburg|san antonio|san diego|san francisco|san jose|san juan|santiago
    sao paulo|são paulo|sapporo|sarajevo|savannah|seattle|seoul|seville|shanghai|sheffield|shenzhen|sofia|southampton
    split|stockholm|strasbourg|stuttgart|sydney|taipei|tallinn|tampa|tampere|tbilisi|tehran|tel aviv|thessaloniki
    tirana|tokyo|toronto|toulouse|trieste|trondheim|tucson|tulsa|tunis|turin|turku|uppsala|utrecht|valencia|vancouver
    venice|verona|vienna|vilnius|warsaw|washington|wellington|winnipeg|wroclaw|yerevan|yokohama|york|zagreb
    zaragoza|zurich|zürich"""
)
