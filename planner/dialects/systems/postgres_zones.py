"""Time zones that PostgreSQL names, and that are one distance from UTC wherever and whenever.

    PST     →  -08:00          also in summer, where DuckDB has the time of Los Angeles
    BST     →  +01:00          where DuckDB has the time of Dhaka
    UTC+3   →  -03:00          the sign of POSIX: places west of Greenwich are positive

The abbreviations are those of PostgreSQL's set Default that it gives a distance,
https://www.postgresql.org/docs/15/datetime-config-files.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIXED = {
    "-10:00": "HST TAHT",
    "-09:30": "MART",
    "-09:00": "AKST GAMT",
    "-08:00": "AKDT PST",
    "-07:00": "MST PDT",
    "-06:00": "CST GALT MDT",
    "-05:00": "ACT CDT COT EST PET",
    "-04:00": "AMT AST BOT EDT",
    "-03:30": "NFT NST",
    "-03:00": "ADT BRA BRT CLST GFT PMST PYST UYT WGT",
    "-02:30": "NDT",
    "-02:00": "BRST FNT PMDT UYST WGST",
    "-01:00": "AZOT EGT FNST",
    "+00:00": "AZOST EGST GMT UCT UT UTC WET Z ZULU",
    "+01:00": "BST CET MET MEZ WAT WETDST",
    "+02:00": "BDST CEST CETDST EET IST MEST MESZ METDST SAST",
    "+03:00": "EAT EEST EETDST FET IDT",
    "+03:30": "IRT",
    "+04:00": "MSD MUT RET SCT",
    "+04:30": "AFT",
    "+05:00": "MUST MVT PKT TFT TJT UZT",
    "+05:45": "NPT",
    "+06:00": "ALMT BDT BTT KGST PKST UZST XJT YEKST",
    "+06:30": "MMT",
    "+07:00": "ALMST CXT ICT WAST",
    "+08:00": "AWST BNT BORT CCT HKT MYT PHT WADT",
    "+08:45": "ACWST",
    "+09:00": "AWSST JAYT JST KST PWT ULAST WDT",
    "+09:30": "ACST CAST",
    "+10:00": "AEST CHUT DDUT KDT LIGT MPT PGT TRUT YAPT",
    "+10:30": "ACDT ACSST CADT LHST SADT",
    "+11:00": "AEDT AESST PONT VUT",
    "+12:00": "FJT GILT MHT NZST NZT TVT WAKT WFT",
    "+12:45": "CHAST",
    "+13:00": "FJST NZDT TOT",
    "+13:45": "CHADT",
}
_OFFSETS: Mapping[str, str] = {name: offset for offset, names in _FIXED.items() for name in names.split()}
_OF_POSIX = re.compile(r"[a-z]{3,}([-+]?)(\d\d?)(?::?(\d\d))?", re.IGNORECASE)


def offset_of_zone(name: str) -> str | None:
    """The distance from UTC, with the sign of ISO 8601; None for a name that is no distance everywhere and at
    all times."""
    if (found := _OFFSETS.get(name.upper())) is not None:
        return found
    posix = _OF_POSIX.fullmatch(name)
    return (
        None if posix is None else f"{'+' if posix[1] == '-' else '-'}{int(posix[2]):02}:{posix[3] or '00'}"
    )
