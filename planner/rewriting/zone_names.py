"""The names of time zones in Windows, which T-SQL takes, as those of the time zone database.

at AT TIME ZONE 'Pacific Standard Time'   →   at AT TIME ZONE 'America/Los_Angeles'

After the table `windowsZones` of the Unicode CLDR, https://cldr.unicode.org/: each zone's first territory.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from planner.native.templates import with_parts
from planner.positions import refuse

_DIALECTS = frozenset({"fabric", "tsql"})
_ZONES: Mapping[str, str] = {
    "AUS Central Standard Time": "Australia/Darwin",
    "AUS Eastern Standard Time": "Australia/Sydney",
    "Alaskan Standard Time": "America/Anchorage",
    "Arabian Standard Time": "Asia/Dubai",
    "Argentina Standard Time": "America/Buenos_Aires",
    "Atlantic Standard Time": "America/Halifax",
    "Cen. Australia Standard Time": "Australia/Adelaide",
    "Central America Standard Time": "America/Guatemala",
    "Central Europe Standard Time": "Europe/Budapest",
    "Central European Standard Time": "Europe/Warsaw",
    "Central Standard Time": "America/Chicago",
    "Central Standard Time (Mexico)": "America/Mexico_City",
    "China Standard Time": "Asia/Shanghai",
    "E. Africa Standard Time": "Africa/Nairobi",
    "E. Australia Standard Time": "Australia/Brisbane",
    "E. Europe Standard Time": "Europe/Chisinau",
    "E. South America Standard Time": "America/Sao_Paulo",
    "Eastern Standard Time": "America/New_York",
    "Egypt Standard Time": "Africa/Cairo",
    "FLE Standard Time": "Europe/Kiev",
    "GMT Standard Time": "Europe/London",
    "GTB Standard Time": "Europe/Bucharest",
    "Greenwich Standard Time": "Atlantic/Reykjavik",
    "Hawaiian Standard Time": "Pacific/Honolulu",
    "India Standard Time": "Asia/Calcutta",
    "Iran Standard Time": "Asia/Tehran",
    "Israel Standard Time": "Asia/Jerusalem",
    "Korea Standard Time": "Asia/Seoul",
    "Mountain Standard Time": "America/Denver",
    "Nepal Standard Time": "Asia/Katmandu",
    "New Zealand Standard Time": "Pacific/Auckland",
    "Newfoundland Standard Time": "America/St_Johns",
    "North Asia Standard Time": "Asia/Krasnoyarsk",
    "Pacific Standard Time": "America/Los_Angeles",
    "Pakistan Standard Time": "Asia/Karachi",
    "Romance Standard Time": "Europe/Paris",
    "Russian Standard Time": "Europe/Moscow",
    "SA Pacific Standard Time": "America/Bogota",
    "SE Asia Standard Time": "Asia/Bangkok",
    "Singapore Standard Time": "Asia/Singapore",
    "South Africa Standard Time": "Africa/Johannesburg",
    "Sri Lanka Standard Time": "Asia/Colombo",
    "Taipei Standard Time": "Asia/Taipei",
    "Tasmania Standard Time": "Australia/Hobart",
    "Tokyo Standard Time": "Asia/Tokyo",
    "Turkey Standard Time": "Europe/Istanbul",
    "US Eastern Standard Time": "America/Indianapolis",
    "US Mountain Standard Time": "America/Phoenix",
    "UTC": "UTC",
    "W. Australia Standard Time": "Australia/Perth",
    "W. Central Africa Standard Time": "Africa/Lagos",
    "W. Europe Standard Time": "Europe/Berlin",
}


def zone_name(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """AT TIME ZONE with the zone's other name; None for any other node. Raises Unsupported for a zone that
    neither list has."""
    zone = node.args.get("zone") if isinstance(node, exp.AtTimeZone) and dialect in _DIALECTS else None
    if not isinstance(zone, exp.Literal) or zone.name == "UTC" or "/" in zone.name:
        return None
    if zone.name not in _ZONES:
        refuse(zone, f"the time zone {zone.name} is not supported", "write it as Europe/Paris")
    return with_parts(node, zone=exp.Literal.string(_ZONES[zone.name]))
