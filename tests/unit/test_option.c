/* SPDX-License-Identifier: BSD-3-Clause */
/* The option grammar: [MODE][,KEY=VALUE]..., and which of three sources wins. */
#include "resolve/options.h"
#include "unit.h"

static const struct {
    struct rc_str input;
    bool mode_given;
    enum rc_mode mode;
    enum rc_order order;
    uint32_t nproc;
    const char *why;
} taken[] = {
    { NO_TEXT, false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "an option without a value" },
    { TEXT(""), false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "an empty value" },
    { TEXT("(null)"), false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "what Slurm hands on to an inner srun" },
    { TEXT("worker"), true, RC_MODE_WORKER, RC_ORDER_UNSET, 0, "worker" },
    { TEXT("launcher"), true, RC_MODE_LAUNCHER, RC_ORDER_UNSET, 0, "launcher" },
    { TEXT("order=node"), false, RC_MODE_AUTO, RC_ORDER_NODE, 0, "a key alone" },
    { TEXT("nproc=1"), false, RC_MODE_AUTO, RC_ORDER_UNSET, 1, "the smallest nproc" },
    { TEXT("auto,order=node"), true, RC_MODE_AUTO, RC_ORDER_NODE, 0, "a mode and a key" },
    { TEXT("order=node,nproc=2"), false, RC_MODE_AUTO, RC_ORDER_NODE, 2, "two keys, the mode is open" },
    { TEXT("addr=ib0"), false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "an address" },
    { TEXT("off,addr=-ib"), true, RC_MODE_OFF, RC_ORDER_UNSET, 0, "a key beside off" },
    { TEXT("watch"), false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "a key that may stand alone" },
    { TEXT("watch=1"), false, RC_MODE_AUTO, RC_ORDER_UNSET, 0, "a second" },
    { TEXT("worker,gpus=own,bind=off,nic=auto"), true, RC_MODE_WORKER, RC_ORDER_UNSET, 0, "GPUs, cores and NICs" },
};

struct refused_row {
    struct rc_str input;
    enum rc_message_id id;
    const char *says; /* part of the line */
    const char *why;
};

#define K16 "kkkkkkkkkkkkkkkk"
#define K64 K16 K16 K16 K16

static const struct refused_row refused[] = {
    { TEXT("on"), RC201, "'on' is not known", "a mode that is none" },
    { TEXT("none"), RC201, "'none' is not known", "a mode that cannot be asked for" },
    { TEXT("Worker"), RC201, "'Worker' is not known", "case counts" },
    { TEXT("worker\0"), RC201, "'worker\\x00' is not known", "trailing NUL" },
    { TEXT("worker,"), RC201, "'' is not known", "trailing comma" },
    { TEXT("worker,launcher"), RC201,
      "'launcher' is not known; use [MODE][,KEY=VALUE]... with MODE auto, worker, launcher, alone or off, and keys "
      "order=",
      "two modes" },
    { TEXT("order=node,worker"), RC201, "'worker' is not known", "a mode after a key" },
    { TEXT("order"), RC201, "'order' is not known", "a key without a value" },
    { TEXT("mode=worker"), RC201, "'mode=worker' is not known", "the mode is no key" },
    { TEXT("Order=node"), RC201, "'Order=node' is not known", "a key with a capital" },
    { TEXT("orde=node"), RC201, "'orde=node' is not known", "no abbreviations of keys" },
    { TEXT("\x1b[2J"), RC201, "'\\x1b[2J' is not known", "a terminal escape" },
    { TEXT(K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64 K64), RC201, "'" K64 "'... is not known",
      "1 KiB" },
    { TEXT("order="), RC202, "order='' is not known", "no order" },
    { TEXT("nproc="), RC202, "nproc='' is not known", "no number" },
    { TEXT("nproc=0"), RC202, "nproc='0' is not known", "no processes" },
    { TEXT("addr="), RC202, "addr='' is empty; use an interface", "no address" },
    { TEXT("addr=\x1b]0;x"), RC202, "addr='\\x1b]0;x' is not the name of an interface", "a terminal escape" },
    { TEXT("watch=0"), RC202,
      "watch='0' is not known; use watch, watch=on, watch=off or, in seconds, watch=1 to "
      "watch=86400",
      "no seconds" },
    { TEXT("watch=86401"), RC202, "watch='86401' is not known", "more than a day" },
    { TEXT("watch,watch"), RC203, "watch is given twice", "the bare key twice" },
    { TEXT("watch,auto,watch=off"), RC201, "'auto' is not known", "a mode after a key" },
    { TEXT("gpus=none"), RC202, "gpus='none' is not known; use gpus=auto or own", "no such GPUs" },
    { TEXT("bind=core"), RC202, "bind='core' is not known; use bind=auto, cores, numa or off", "a shorter word" },
    { TEXT("order=node,order=given"), RC203, "order= is given twice", "two orders" },
    { TEXT("worker,nproc=2"), RC204, "nproc= belongs to launcher mode", "nproc= with worker" },
    { TEXT("launcher,order=node"), RC204, "order=node belongs to worker mode", "order=node with launcher" },
};

struct parsed {
    bool taken;
    struct rc_options options;
    struct rc_messages messages;
    struct rc_arena arena;
    char text[1024];
};

static void parse(struct rc_str input, struct parsed *parsed)
{
    memset(parsed, 0, sizeof(*parsed));
    memset(&parsed->options, 0x5a, sizeof(parsed->options));
    parsed->arena = (struct rc_arena){ .base = parsed->text, .size = sizeof(parsed->text) };
    parsed->messages.arena = &parsed->arena;
    parsed->taken = rc_options_parse(input, "--ddp", &parsed->options, &parsed->messages);
}

UNIT_ROWS(takes, "option takes", taken)
{
    struct parsed parsed;

    parse(unit_guard(row->input), &parsed);
    assert_true(parsed.taken);
    assert_true(parsed.options.given);
    assert_int_equal(parsed.options.mode_given, row->mode_given);
    assert_int_equal(parsed.options.mode, row->mode);
    assert_int_equal(parsed.options.order, row->order);
    assert_int_equal(parsed.options.nproc, row->nproc);
    assert_int_equal(parsed.messages.count, 0);
    assert_false(parsed.messages.has_error);
}

/* One line, of that id, that names the source and what was found. */
UNIT_ROWS(refuses, "option refuses", refused)
{
    struct rc_options before;
    struct parsed parsed;
    const char *text;

    memset(&before, 0x5a, sizeof(before));
    parse(unit_guard(row->input), &parsed);
    assert_false(parsed.taken);
    assert_memory_equal(&parsed.options, &before, sizeof(before));
    assert_int_equal(parsed.messages.count, 1);
    assert_true(parsed.messages.has_error);
    assert_int_equal(parsed.messages.list[0].id, row->id);
    text = parsed.messages.list[0].text;
    if (strncmp(text, "--ddp: ", 7) != 0 || !strstr(text, row->says) || strchr(text, '\n'))
        fail_msg("the line is: %s", text);
}

UNIT_TEST(names_modes, "every mode has its name")
{
    assert_string_equal(rc_mode_name(RC_MODE_AUTO), "auto");
    assert_string_equal(rc_mode_name(RC_MODE_OFF), "off");
    assert_string_equal(rc_mode_name(RC_MODE_NONE), "none");
    assert_string_equal(rc_mode_name(RC_MODE_WORKER), "worker");
    assert_string_equal(rc_mode_name(RC_MODE_LAUNCHER), "launcher");
    assert_string_equal(rc_mode_name(RC_MODE_TORCHRUN), "torchrun");
}

UNIT_TEST(words_checks, "the word of a check is read as that check, that of none as the first")
{
    for (enum rc_check check = RC_CHECK_OFF; check <= RC_CHECK_STRICT; check++)
        assert_int_equal(rc_str_which(rc_options_word(rc_words_check, check), rc_words_check), check);
    assert_true(rc_str_is(rc_options_word(rc_words_bind, RC_BIND_UNSET), "auto"));
}

/* The arena is full: no crash, the error is still known. */
UNIT_TEST(lacks_room, "an error without room for its line is still an error")
{
    struct rc_options options = { .nproc = 77 };
    struct rc_arena arena = { .base = unit_guard_memory(8), .size = 8 };
    struct rc_messages messages = { .arena = &arena };

    assert_false(rc_options_parse(RC_STR("nonsense"), "--ddp", &options, &messages));
    assert_true(messages.has_error);
    assert_true(arena.full);
    assert_int_equal(options.nproc, 77);
}

/* The three sources, and the outcome; "-" is a source that is not given. */
static const struct {
    struct rc_str input; /* --ddp */
    const char *environment;
    const char *site; /* keys of plugstack.conf's line */
    const char *expected;
    bool addr_by_user;
    const char *why;
} combined[] = {
    { TEXT("-"), "-", "-", "-", false, "no source" },
    { TEXT(""), "-", "-", "", false, "the bare option" },
    { TEXT("worker"), "-", "-", "worker", false, "only the command line" },
    { TEXT("-"), "worker", "-", "worker", false, "only the environment" },
    { TEXT("-"), "-", "addr=ib2,watch,same=stop", "-", false, "only the site: nobody asked" },
    { TEXT("worker"), "launcher", "-", "worker", false, "the command line wins over the environment" },
    { TEXT(""), "launcher", "-", "launcher", false, "the bare option leaves the mode to the environment" },
    { TEXT("worker"), "off", "-", "off", false, "the environment's off wins over the command line" },
    { TEXT("off"), "worker", "-", "off", false, "the command line's off wins over the environment" },
    { TEXT("-"), "nproc=2", "nproc=3", "nproc=2", false, "a key in the environment is asking, too" },
    { TEXT("order=given"), "nproc=4", "bind=off", "order=given,nproc=4,bind=off", false,
      "each key from the first that has it" },
    { TEXT("order=given"), "order=node,nproc=2", "nproc=3", "order=given,nproc=2", false,
      "a key does not carry others with it" },
    { TEXT(""), "addr=ib1", "addr=ib2", "addr=ib1", true, "the environment's address" },
    { TEXT("worker"), "-", "addr=ib2", "worker,addr=ib2", false, "the site's address" },
    { TEXT("watch"), "watch=off", "watch=off", "watch", false, "the first that says anything of watch" },
    { TEXT("watch=60"), "watch=7", "watch=off", "watch=60", false, "the first one's seconds" },
    { TEXT("watch"), "watch=7", "watch=60", "watch", false, "watch without seconds takes nobody else's" },
    { TEXT("gpus=own,bind=numa,nic=auto"), "gpus=auto", "bind=off", "gpus=own,bind=numa,nic=auto", false,
      "where a task goes: all from the first" },
    { TEXT("bind=cores"), "gpus=auto", "nic=off,bind=off", "gpus=auto,bind=cores,nic=off", false,
      "where a task goes: each from another" },
};

static const struct rc_options *source(const char *text, struct parsed *parsed)
{
    if (strcmp(text, "-") == 0)
        return NULL;
    parse(rc_str(text), parsed);
    assert_true(parsed->taken);
    return &parsed->options;
}

UNIT_ROWS(combines, "option combines", combined)
{
    struct parsed parsed[4];
    struct rc_options nothing = { .given = false };
    const struct rc_options *expected = source(row->expected, &parsed[3]);
    const struct rc_options *sources[3] = {
        source(row->input.p, &parsed[0]),
        source(row->environment, &parsed[1]),
        source(row->site, &parsed[2]),
    };

    /* a source that is not there, and one that was not given, are the same */
    for (int i = 0; i < 2; i++) {
        struct rc_options all = rc_options_combine(sources[0], sources[1], sources[2]);

        assert_int_equal(all.given, expected != NULL);
        if (expected) {
            assert_int_equal(all.mode, expected->mode);
            assert_int_equal(all.order, expected->order);
            assert_int_equal(all.nproc, expected->nproc);
            assert_int_equal(all.addr && !rc_options_is_by_site(&all, RC_KEY_addr), row->addr_by_user);
            assert_true(all.addr && expected->addr ? !strcmp(all.addr, expected->addr) : all.addr == expected->addr);
            assert_int_equal(all.watch, expected->watch);
            assert_int_equal(all.watch_seconds, expected->watch_seconds);
            assert_int_equal(all.gpus, expected->gpus);
            assert_int_equal(all.bind, expected->bind);
            assert_int_equal(all.nic, expected->nic);
        }
        for (int j = 0; j < 3; j++)
            if (!sources[j])
                sources[j] = &nothing;
    }
}

static const struct {
    struct rc_str input; /* --ddp */
    const char *environment;
    const char *site;
    enum rc_check same;
    const char *why;
} sames[] = {
    { TEXT(""), "-", "-", RC_CHECK_WARN, "the default" },
    { TEXT("-"), "auto", "-", RC_CHECK_WARN, "the default in the environment" },
    { TEXT(""), "-", "same=off", RC_CHECK_OFF, "the site's" },
    { TEXT("same=stop"), "same=off", "same=warn", RC_CHECK_STOP, "the first of three" },
    { TEXT("watch"), "same=off", "same=warn", RC_CHECK_OFF, "the environment's" },
    { TEXT("check=warn"), "-", "same=stop", RC_CHECK_STOP, "check= is another key" },
};

UNIT_ROWS(combines_sames, "same= of", sames)
{
    struct parsed parsed[3];
    struct rc_options all = rc_options_combine(source(row->input.p, &parsed[0]), source(row->environment, &parsed[1]),
                                               source(row->site, &parsed[2]));

    assert_int_equal(rc_options_same(&all), row->same);
}

/* The words of plugstack.conf's line: each wrong one is reported, and takes no other with it. */
static const struct {
    struct rc_str input;
    const char *wrong; /* the ids of the messages */
    const char *keys;
    const char *off; /* NULL: rollcall is on */
    const char *why;
} lines[] = {
    { TEXT(""), "", "", NULL, "no word" },
    { TEXT("addr=-ib port=23000-23999"), "", "addr=-ib,port=23000-23999", NULL, "a key a word" },
    { TEXT(" addr=-ib,same=stop  watch "), "", "addr=-ib,same=stop,watch", NULL, "several keys in a word" },
    { TEXT("auto"), "RC201", "", NULL, "a mode" },
    { TEXT("same=stop worker,addr=-ib"), "RC201", "same=stop,addr=-ib", NULL, "a mode before a key" },
    { TEXT("addr=-ib,launcher port=23456"), "RC201", "addr=-ib,port=23456", NULL, "a mode behind a key" },
    { TEXT("default=off,addr=-ib"), "RC201", "addr=-ib", NULL, "default= with a key" },
    { TEXT("off,addr=-ib"), "RC201", "addr=-ib", NULL, "off with a key" },
    { TEXT("same=stop same=warn"), "RC203", "same=stop", NULL, "a key in two words" },
    { TEXT("port=80,same=stop,watch=x"), "RC202RC202", "same=stop", NULL, "two wrong values and a right one" },
    { TEXT("addr=a:b addr=-ib"), "RC202", "addr=-ib", NULL, "a wrong value, and the key again" },
    { TEXT("addr=/9,watch=0 watch"), "RC202RC202", "watch", NULL, "the same of keys with two members" },
    { TEXT("nproc=0,deadline=x,port=23456"), "RC202RC202", "port=23456", NULL, "numbers" },
    { TEXT("log=json off addr=-ib"), "", "addr=-ib", "", "off" },
    { TEXT("addr=-ib off=gone  until, 9;  port=80"), "", "addr=-ib", "gone  until, 9;  port=80", "off with a text" },
    { TEXT("off=  soon"), "", "", "soon", "a blank before the text" },
    { TEXT("off="), "", "", "", "an empty text" },
    { TEXT("offf"), "RC201", "", NULL, "almost off" },
};

UNIT_ROWS(reads_lines, "a line of plugstack.conf:", lines)
{
    struct parsed expected;
    UNIT_ARENA(arena, 4096);
    struct rc_messages messages = { .arena = &arena };
    struct rc_site site = rc_site_read(row->input, "plugstack.conf", &messages);
    struct rc_options *keys = &expected.options;
    char ids[64] = "";

    for (unsigned i = 0; i < messages.count; i++) {
        strcat(ids, rc_message_entry(messages.list[i].id)->id);
        assert_int_equal(strncmp(messages.list[i].text, "plugstack.conf: ", 16), 0);
    }
    assert_string_equal(ids, row->wrong);
    parse(rc_str(row->keys), &expected);
    if (keys->addr) {
        assert_string_equal(site.keys.addr, keys->addr);
        keys->addr = site.keys.addr;
    }
    keys->given = false;
    assert_memory_equal(&site.keys, keys, sizeof(*keys));
    assert_int_equal(site.off.p != NULL, row->off != NULL);
    assert_true(!row->off || rc_str_is(site.off, row->off));
    assert_int_equal(site.logs_steps, strstr(row->input.p, "log=json") != NULL);
}

UNIT_TEST(names_origins, "a key's origin: the line's, unless a user has set the key")
{
    struct parsed line, variable, command;
    struct rc_options all;

    parse(RC_STR("addr=-ib,port=23456,watch,order=topology"), &line);
    parse(RC_STR("watch=off,port=23457"), &variable);
    parse(RC_STR("order=node"), &command);
    all = rc_options_combine(&command.options, &variable.options, &line.options);
    assert_string_equal(rc_options_origin(&all, RC_KEY_addr), "; plugstack.conf sets addr=");
    assert_string_equal(rc_options_origin(&all, RC_KEY_port), "");
    assert_string_equal(rc_options_origin(&all, RC_KEY_watch), "");
    assert_string_equal(rc_options_origin(&all, RC_KEY_order), "");
    assert_string_equal(rc_options_origin(&all, RC_KEY_nic), "");
    all = rc_options_combine(&command.options, NULL, &line.options);
    assert_string_equal(rc_options_origin(&all, RC_KEY_watch), "; plugstack.conf sets watch");
    all = rc_options_combine(NULL, NULL, &line.options);
    assert_int_equal(all.by_site, 0);
}
