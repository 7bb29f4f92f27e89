"""What a document is called: by its own title, unless a program made that up, else by what else tells. Pure."""

import re
from pathlib import PurePath

from domain.knowledge.documents import APART, BlockKind, Document

_MAX_LEAD_WORDS = 40

_PRINTED_BY = re.compile(
    r"Microsoft (?:Office )?(?:Word|PowerPoint|Excel|Publisher|Visio)\s+-\s+", re.IGNORECASE
)
"""What printing from an office program into a PDF puts in front of the file's name."""

_ENDINGS = frozenset(
    {
        "ai", "cdr", "doc", "docm", "docx", "dot", "dotx", "dvi", "eps", "exe", "fm", "ind", "indd", "jpeg", "jpg",
        "odg", "odp", "ods", "odt", "p65", "pdf", "ppt", "pptx", "ps", "psd", "pub", "qxd", "rpt", "rtf", "tex",
        "htm", "html", "mdi", "tif", "tiff", "tmp", "vsd", "vsdx", "wpd", "xls", "xlsm", "xlsx",
    }
)  # fmt: skip
"""Of files whose name ends up as the title of what is made from them."""

_PLACEHOLDERS = frozenset(
    {
        "(anonymous)", "(unspecified)", "about:blank", "activereports document", "blank", "book", "camscanner",
        "default",
        "doc", "document", "file", "image", "insert title here", "latex with hyperref", "latex with hyperref package",
        "n/a", "new document", "new microsoft word document", "no title", "none", "null", "page", "pdf document",
        "powerpoint", "presentation", "print", "scan", "scanned by camscanner", "scanned document", "sheet", "slide",
        "spreadsheet", "title", "unknown", "unnamed", "word document", "microsoft word document", "workbook",
        "your title", "document title", "title of document", "insert title", "slide title", "no slide title",
        "untitled slide", "type your title here", "click to add title", "click to edit title",
        "click to edit master title style", "adobe photoshop pdf", "acrobat ad hoc", "crystal reports",
        "coreldraw graphic", "kompatibilitätsmodus", "compatibility mode", "neues dokument",
        "dokument ohne titel", "nouveau document", "nuevo documento", "nuovo documento", "novo documento",
        "kein folientitel", "titel durch klicken hinzufügen", "titelmasterformat durch klicken bearbeiten",
        "pas de titre de diapositive", "cliquez pour ajouter un titre", "modifiez le style du titre",
        "sin título de diapositiva", "haga clic para agregar título", "nessun titolo diapositiva",
        "fare clic per aggiungere un titolo", "sem título de slide",
        "titel", "titre", "título", "titolo", "tytuł", "název", "заголовок", "название", "标题", "標題",
        "タイトル", "제목",
        # documents, presentations and workbooks without a title or a name, by the languages of the office suites
        "untitled", "untitled document", "untitled presentation", "untitled spreadsheet", "unbenannt", "ohne titel",
        "ohne namen", "sans titre", "sans nom", "document sans titre", "sin título", "sin nombre",
        "documento sin título",
        "senza titolo", "senza nome", "sem título", "sem nome", "naamloos", "zonder titel", "zonder naam", "namnlös",
        "namnlöst", "utan titel", "utan namn", "unavngivet", "uden titel", "uden navn", "uten tittel", "uten navn",
        "nimetön", "nimeämätön", "otsikoton", "bez tytułu", "bez nazwy", "bez názvu", "nepojmenovaný", "nepomenovaný",
        "névtelen", "cím nélkül", "fără titlu", "fără nume", "без заглавие", "без име", "без названия", "без имени",
        "безымянный", "без назви", "без імені", "без назвы", "χωρίς τίτλο", "ανώνυμο", "ads\u0131z", "isimsiz",
        "başl\u0131ks\u0131z",
        "nimetu", "pealkirjata", "bez nosaukuma", "be pavadinimo", "bez naslova", "без наслова", "brez naslova",
        "neimenovano", "неименовано", "sense títol", "sense nom", "izengabea", "sen título", "án titils",
        "gan teideal",
        "dideitl", "pa titull", "بلا عنوان", "بدون عنوان", "ללא שם", "ללא כותרת", "शीर्षकहीन", "无标题", "未命名",
        "無標題", "無題", "名称未設定", "제목 없음", "무제", "ไม่มีชื่อ", "không có tiêu đề",
        "chưa có tiêu đề", "tanpa judul",
        "tanpa tajuk",
        # the title that a presentation program puts into a new file
        "powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint", "presentación de powerpoint",
        "presentazione di powerpoint", "presentazione standard di powerpoint", "apresentação do powerpoint",
        "powerpoint-presentatie", "powerpoint-presentation", "powerpoint-præsentation", "powerpoint-presentasjon",
        "powerpoint-esitys", "prezentacja programu powerpoint", "prezentace aplikace powerpoint",
        "prezentácia programu powerpoint", "powerpoint-bemutató", "powerpoint bemutató", "prezentare powerpoint",
        "презентация powerpoint", "презентація powerpoint", "презентация на powerpoint", "παρουσίαση του powerpoint",
        "powerpoint sunusu", "powerpointi esitlus", "powerpoint prezentācija", "„powerpoint“ pateiktis",
        "powerpoint prezentacija", "powerpointova predstavitev", "powerpoint презентација",
        "presentació del powerpoint",
        "powerpoint aurkezpena", "عرض تقديمي من powerpoint", "מצגת של powerpoint", "powerpoint 演示文稿",
        "powerpoint 簡報", "powerpoint プレゼンテーション", "powerpoint 프레젠테이션", "งานนำเสนอ powerpoint",
        "bản trình bày powerpoint", "presentasi powerpoint", "powerpoint प्रस्तुति",
        # documents and presentations
        "dokument", "documento", "documento de microsoft word", "document microsoft word", "microsoft word-dokument",
        "документ", "документ microsoft word", "asiakirja", "έγγραφο", "dokumentum", "文档", "文書", "문서", "مستند",
        "מסמך", "präsentation", "présentation", "presentación", "presentazione", "apresentação", "презентация",
        "презентація", "prezentacja", "prezentace",
    }
)  # fmt: skip
"""What programs call a document that nobody gave a title, in lower case and without the number behind it."""

_NUMBERED = frozenset(
    {
        # slides
        "diapositive", "folie", "diapositiva", "diapositivo", "dia", "bild", "dias", "lysbilde", "slajd", "snímek",
        "snímka", "diapozitiv", "слайд", "διαφάνεια", "slayt", "слајд", "skaidrė", "slaids", "slaid",
        "prosojnica", "شريحة",
        "שקופית", "اسلاید", "幻灯片", "投影片", "スライド", "슬라이드", "สไลด์", "ภาพนิ่ง", "trang chiếu",
        "bản chiếu", "salindia",
        "स्लाइड", "gardenki", "diapositivas", "sleamhnán",
        # workbooks and sheets
        "mappe", "arbeitsmappe", "tabelle", "classeur", "feuil", "feuille", "libro", "hoja", "cartel",
        "cartella", "foglio",
        "pasta", "planilha", "livro", "folha", "map", "blad", "bok", "ark", "projektmappe", "työkirja",
        "taulukko", "zeszyt",
        "arkusz", "skoroszyt", "sešit", "list", "zošit", "hárok", "munkafüzet", "munka", "registru", "foaie",
        "книга", "лист",
        "аркуш", "βιβλίο", "φύλλο", "kitap", "sayfa", "工作簿", "活頁簿", "工作表", "ブック", "シート",
        "통합 문서", "시트",
        # what cameras, scanners and telephones call pictures
        "img", "image", "dsc", "dscn", "dscf", "pxl", "vid", "mov", "pic", "picture", "photo", "foto",
        "screenshot",
        "screen shot", "kmbt", "kmbt_c", "skm", "skm_c", "layout",
        "bildschirmfoto", "capture", "captura", "scn", "numérisation", "escaneo", "scansione",
    }
)  # fmt: skip
"""Words that are a title of their own, but not with a number behind them."""
_LONGEST_PLACEHOLDER = 60
_NUMBER = re.compile(r"(?:[\s_#.:()-]*\d)+\)?\Z")
_SEPARATORS = re.compile(r"[\s_\-.()]+")
_LEAST_LETTERS = 3
_LOGOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def title_of(document: Document, file_name: str) -> str:
    """The document's own title, else its short first line, else the file's name when it says anything."""
    own, stem = document.title.strip(), PurePath(file_name).stem
    if own in (file_name, stem):
        own = ""
    first = next((block for block in document.blocks if block.kind not in APART), None)
    text = first.text.strip() if first else ""
    line = text.split("\n", 1)[0]
    has_more = len(document.blocks) > 1 or "\n" in text
    is_lead = 0 < len(line.split()) <= _MAX_LEAD_WORDS and len(line) * 2 < len(document.text)
    lead = line if first and has_more and is_lead and first.kind is BlockKind.PARAGRAPH else ""
    return meant_title(own) or lead or _readable(stem)


def meant_title(title: str) -> str:
    """A title without what a program put around it; empty where nothing is left that somebody meant."""
    printed = _PRINTED_BY.match(title)
    bare = title[printed.end() :] if printed else title
    stem, _, ending = re.split(r"[\\/]", bare)[-1].rpartition(".")
    if ending.lower() in _ENDINGS and stem:
        bare = "" if _is_placeholder(stem) else _readable(stem)
    return "" if _is_placeholder(bare) else bare


def _is_placeholder(title: str) -> bool:
    if not any(character.isalpha() for character in title):
        return True
    if len(title) > _LONGEST_PLACEHOLDER:
        return False
    name = title.casefold()
    bare = _NUMBER.sub("", name.strip("<>[] "))
    return name in _PLACEHOLDERS or bare in _PLACEHOLDERS or (bare in _NUMBERED and bare != name)


def _readable(stem: str) -> str:
    """The words of a file's name; empty where it is a mere mark such as 'scan0042'."""
    readable = " ".join(_SEPARATORS.sub(" ", stem).split())
    if _is_placeholder(readable):
        return ""
    marks = _NUMBERED | _PLACEHOLDERS if any(map(str.isdigit, readable)) else frozenset[str]()
    words = (_NUMBER.sub("", word) for word in readable.split())
    return (
        readable
        if any(
            (word.isalpha() and len(word) >= (2 if _LOGOGRAPHS.search(word) else _LEAST_LETTERS))
            and word.casefold() not in marks
            for word in words
        )
        else ""
    )
