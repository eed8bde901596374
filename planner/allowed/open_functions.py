"""The functions of DuckDB that a client's SQL may call, by topic; every other function is closed.

A PURE function depends on its arguments alone, so a view may call it. The value of a PASSING function changes
over time, so only a query that is answered once may call it. No open function reads or changes anything but
its arguments: no file, setting, catalog, variable, sequence or seed. None sleeps. Operators are functions
here too, under the names that DuckDB's parser gives them.
"""

from __future__ import annotations

PURE_BY_TOPIC = {
    "operators": """
        + - * / // % ** ^ ^@ ! !__postfix & && | || ~ ~~ !~~ ~~* !~~* ~~~ << >> @ @> <@ <-> <=> ->>
        -> = == != <> < <= > >= like_escape not_like_escape ilike_escape not_ilike_escape add
        subtract multiply divide mod pow power fdiv fmod""",
    "choice": """
        coalesce ifnull if nullif greatest least constant_or_null""",
    "text": """
        ascii array_to_string bar bit_length char_length character_length chr concat concat_ws
        contains ends_with format format_bytes formatreadabledecimalsize formatreadablesize instr
        lcase left left_grapheme len length length_grapheme lower lpad ltrim md5 nfc_normalize
        octet_length ord overlay parse_dirname parse_dirpath parse_filename parse_formatted_bytes
        parse_path path_join pg_size_pretty position prefix printf repeat replace reverse right
        right_grapheme rpad rtrim sha1 sha256 split split_part starts_with str_split string_split
        string_to_array strip_accents strlen strpos substr substring substring_grapheme suffix
        translate trim ucase unicode upper url_decode url_encode""",
    "how alike texts are": """
        damerau_levenshtein editdist3 hamming jaccard jaro_similarity jaro_winkler_similarity
        levenshtein mismatches""",
    "patterns": """
        regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches
        regexp_replace regexp_split_to_array str_split_regex string_split_regex""",
    "numbers": """
        abs acos acosh asin asinh atan atan2 atanh binom cbrt ceil ceiling cos cosh cot
        decimal_division degrees even exp factorial floor gamma gcd greatest_common_divisor isfinite
        isinf isnan lcm least_common_multiple lgamma ln log log10 log2 nextafter pi radians round
        round_even roundbankers sign signbit sin sinh sqrt tan tanh trunc""",
    "bits and bytes": """
        base64 bin bit_count bit_position bitstring decode encode from_base64 from_binary from_hex
        get_bit hash hex set_bit to_base to_base64 to_binary to_hex unbin unhex xor""",
    "dates and times": """
        age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub
        datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms
        epoch_ns epoch_us era hour isodow isoyear julian last_day make_date make_time make_timestamp
        make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond
        minute month monthname nanosecond normalized_interval quarter second strftime strptime
        time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours
        to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
        to_timestamp to_weeks to_years try_strptime week weekday weekofyear year yearweek""",
    "lists": """
        aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat
        array_contains array_cosine_distance array_cosine_similarity array_cross_product
        array_distance array_distinct array_dot_product array_extract array_filter array_grade_up
        array_has array_has_all array_has_any array_indexof array_inner_product array_intersect
        array_length array_negative_dot_product array_negative_inner_product array_pop_back
        array_pop_front array_position array_prepend array_push_back array_push_front array_reduce
        array_resize array_reverse array_reverse_sort array_select array_slice array_sort
        array_to_string_comma_default array_transform array_unique array_value array_where array_zip
        cardinality element_at equi_width_bins filter flatten generate_series grade_up list_aggr
        list_aggregate list_any_value list_append list_approx_count_distinct list_apply list_avg
        list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat
        list_contains list_cosine_distance list_cosine_similarity list_count list_distance
        list_distinct list_dot_product list_element list_entropy list_extract list_filter list_first
        list_grade_up list_has list_has_all list_has_any list_histogram list_indexof
        list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last list_mad
        list_max list_median list_min list_mode list_negative_dot_product
        list_negative_inner_product list_pack list_position list_prepend list_product list_reduce
        list_resize list_reverse list_reverse_sort list_select list_sem list_skewness list_slice
        list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform
        list_unique list_value list_var_pop list_var_samp list_where list_zip range reduce
        unpivot_list""",
    "maps, structs and unions": """
        map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
        map_extract_value map_from_entries map_keys map_values row struct_concat struct_contains
        struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys
        struct_pack struct_position struct_update struct_values union_extract union_tag union_value""",
    "JSON": """
        array_to_json from_json from_json_strict json json_array json_array_length json_contains
        json_deep_merge json_exists json_extract json_extract_path json_extract_path_text
        json_extract_string json_insert json_keys json_merge_patch json_merge_patch_diff
        json_normalize json_object json_pretty json_quote json_remove json_replace json_set
        json_strip_nulls json_structure json_transform json_transform_strict json_type json_valid
        json_value row_to_json to_json""",
    "types, enumerations and UUIDs": """
        cast_to_type enum_code enum_first enum_last enum_range enum_range_boundary get_type
        pg_typeof typeof uuid_extract_timestamp uuid_extract_version""",
}

PASSING_BY_TOPIC = {
    "the time": """
        ago current_date current_localtime current_localtimestamp get_current_time
        get_current_timestamp now today transaction_timestamp current_time current_timestamp
        localtime localtimestamp""",
    "chance": "gen_random_uuid random uuid uuidv4 uuidv7",
    "rows of lists": "generate_subscripts regexp_split_to_table unlist unnest",
}

AGGREGATES_BY_TOPIC = {
    "counts and sums": """
        avg count count_if count_star countif favg fsum kahan_sum mean product sum sum_no_overflow
        sumkahan""",
    "first and greatest": """
        any_value arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
        arg_min_nulls_last argmax argmin first last max max_by min min_by mode""",
    "truth and bits": "bit_and bit_or bit_xor bitstring_agg bool_and bool_or",
    "statistics": """
        corr covar_pop covar_samp entropy geomean geometric_mean kurtosis kurtosis_pop mad median
        quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2
        regr_slope regr_sxx regr_sxy regr_syy sem skewness stddev stddev_pop stddev_samp var_pop
        var_samp variance wavg weighted_avg""",
    "about": "approx_count_distinct approx_quantile approx_top_k reservoir_quantile",
    "lists and texts": """
        array_agg group_concat histogram histogram_exact json_group_array json_group_object
        json_group_structure list listagg string_agg""",
}

WINDOW_BY_TOPIC = {
    "places": "cume_dist dense_rank ntile percent_rank rank rank_dense row_number",
    "values": "fill first_value lag last_value lead nth_value",
}

TABLES_BY_TOPIC = {
    "series": "generate_series range repeat repeat_row",
    "elements": "json_each json_tree unnest",
}


def _names(*topics: dict[str, str]) -> frozenset[str]:
    return frozenset(name for topic in topics for names in topic.values() for name in names.split())


AGGREGATES = _names(AGGREGATES_BY_TOPIC)
PURE = _names(PURE_BY_TOPIC)
PASSING = _names(PASSING_BY_TOPIC)
TABLE_FUNCTIONS = _names(TABLES_BY_TOPIC)
WINDOWS = _names(WINDOW_BY_TOPIC)
IN_VIEWS = PURE | AGGREGATES | WINDOWS
IN_QUERIES = IN_VIEWS | PASSING
AGGREGATES_BY_NAME = frozenset({"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"})
"""Functions whose second argument is the name of an aggregate."""
SESSION = frozenset(
    {"current_catalog", "current_database", "current_role", "current_schema", "current_user", "session_user"}
    | {"user"}
)
"""Closed functions that SQL writes without parentheses."""
