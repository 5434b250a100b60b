/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor's pure parts: texts in files, the order of findings. */
#include "cli/doctor/doctor.h"
#include "unit.h"

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Whatever is cut off of a file, nothing after its end is read: valgrind and the sanitizers see that. */
UNIT_TEST(test_text_in_file, "a text in a file, and what follows")
{
    static const char content[] = "\177ELF\0 other for Slurm 1\0plugin for Slurm 22.05\0plugin for Slurm 24.11";
    char path[] = "/tmp/rollcall-test-XXXXXX";
    char series[6] = "none";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    assert_false(doctor_text_in_file(path, "plugin for Slurm ", series, sizeof(series)));
    write_file(path, content, sizeof(content) - 1);
    assert_false(doctor_text_in_file(path, "plugin of Slurm ", series, sizeof(series)));
    assert_string_equal(series, "none");
    assert_true(doctor_text_in_file(path, "plugin for Slurm ", series, sizeof(series)));
    assert_string_equal(series, "22.05");
    assert_true(doctor_text_in_file(path, "other ", series, sizeof(series)));
    assert_string_equal(series, "for S");
    assert_true(doctor_text_in_file(path, "plugin for Slurm 24", series, sizeof(series)));
    assert_string_equal(series, ".11");
    assert_true(doctor_text_in_file(path, "24.11", series, sizeof(series)));
    assert_string_equal(series, "");
    unlink(path);
    assert_false(doctor_text_in_file(path, "ELF", series, sizeof(series)));
}

UNIT_TEST(test_order, "errors first, then by file and line; what is of no file stays where it is")
{
    static const char *const expected[] = { "D401 a 9", "D412 b 2", "D202 - 0", "D403 a 3",
                                            "D404 a 7", "D418 c 1", "D203 - 0" };
    struct findings findings = { .count = 0 };

    doctor_findings_add(&findings, FINDING_D202, NULL, 0, NULL, "x");
    doctor_findings_add(&findings, FINDING_D404, "a", 7, NULL, "x");
    doctor_findings_add(&findings, FINDING_D412, "b", 2, NULL, "x");
    doctor_findings_add(&findings, FINDING_D418, "c", 1, NULL, "x");
    doctor_findings_add(&findings, FINDING_D203, NULL, 0, NULL, "x");
    doctor_findings_add(&findings, FINDING_D403, "a", 3, NULL, "x");
    doctor_findings_add(&findings, FINDING_D401, "a", 9, "this", "%d of %s", 1, "x");
    doctor_findings_sort(&findings);
    assert_false(findings.failed);
    assert_int_equal(findings.count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < findings.count; i++) {
        char line[64];

        snprintf(line, sizeof(line), "%s %s %u", findings.list[i].id,
                 findings.list[i].file ? findings.list[i].file : "-", findings.list[i].line);
        assert_string_equal(line, expected[i]);
    }
    assert_string_equal(findings.list[0].what, "1 of x");
    assert_string_equal(findings.list[0].change, "this");
    assert_string_equal(findings.list[1].change, cli_catalogue_finding(FINDING_D412)->cure);
    assert_int_equal(cli_catalogue_find_finding("D403"), FINDING_D403);
    assert_int_equal(cli_catalogue_find_finding("D999"), FINDING_COUNT);
    doctor_findings_free(&findings);
}

static const struct {
    struct rc_str input; /* after the plugin's path */
    const char *words;
    bool off;
    const char *why;
} arguments[] = {
    { TEXT(""), "", false, "no word" },
    { TEXT("port=9000-9999 # off"), "port=9000-9999", false, "a comment" },
    { TEXT(" log=json\t off  addr=-ib "), "log=json off addr=-ib", true, "the word alone" },
    { TEXT("off=ranks are  wrong; ask addr=-ib#x"), "off=ranks are wrong; ask addr=-ib", true, "a text" },
    { TEXT("offf"), "offf", false, "a wrong word" },
};

UNIT_ROWS(test_off, "the plugin's line is read:", arguments)
{
    char folder[] = "/tmp/rollcall-doctor.XXXXXX";
    char conf[64];
    char plugstack[64];
    static struct doctor_plugin found;
    FILE *file;

    assert_non_null(mkdtemp(folder));
    snprintf(conf, sizeof(conf), "%s/slurm.conf", folder);
    snprintf(plugstack, sizeof(plugstack), "%s/spank.conf", folder);
    file = fopen(conf, "w");
    assert_non_null(file);
    fprintf(file, "# PlugStackConfig=/none\n plugstackconfig = %s # ours\n", plugstack);
    fclose(file);
    file = fopen(plugstack, "w");
    assert_non_null(file);
    fprintf(file, "# ours\noptional /none/rollcall.so %s\n", row->input.p);
    fclose(file);
    setenv("SLURM_CONF", conf, 1);
    doctor_plugin_find(&found);
    unsetenv("SLURM_CONF");
    unlink(conf);
    unlink(plugstack);
    rmdir(folder);
    assert_int_equal(found.line, 2);
    assert_string_equal(found.words, row->words);
    assert_int_equal(doctor_plugin_is_off(&found), row->off);
}
