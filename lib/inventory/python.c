/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/python.h"

#include <string.h>
#include <sys/stat.h>

#include "base/numbers.h"

enum { LINKS_MAX = 16, HEAD_SIZE = 512, VERSION_SIZE = 16 };

/* Where an installation or environment has its packages; VERSION is "3.11". Debian's own have another name. */
static const char *const places[] = {
    "%s/lib/python%S/site-packages",
    "%s/lib64/python%S/site-packages",
};
static const char *const system_places[] = {
    "/usr/local/lib/python%S/site-packages",
    "/usr/local/lib64/python%S/site-packages",
    "/usr/local/lib/python%S/dist-packages",
    "/usr/lib/python%S/dist-packages",
};

static bool is_file(const char *root, const char *path)
{
    char full[RC_FILES_PATH];
    struct stat file;

    return rc_files_join(root, path, "", full) && stat(full, &file) == 0 && S_ISREG(file.st_mode) &&
           (file.st_mode & 0111) != 0;
}

static bool keep_path(struct rc_str from, char path[RC_FILES_PATH])
{
    if (from.n == 0 || from.n >= RC_FILES_PATH)
        return false;
    memmove(path, from.p, from.n);
    path[from.n] = '\0';
    return true;
}

/* A name with a slash is the file itself; another one is looked for in PATH. */
static bool find_program(const char *root, struct rc_str name, const struct rc_env *env, char path[RC_FILES_PATH])
{
    struct rc_str rest = rc_env_get(env, "PATH");

    if (memchr(name.p, '/', name.n))
        return keep_path(name, path) && is_file(root, path);
    while (rest.p) {
        struct rc_str folder = rc_str_split(rest, ':', &rest);
        struct rc_arena arena = { .base = path, .size = RC_FILES_PATH };

        rc_format(&arena, "%S/%S", &folder, &name);
        if (folder.n && !arena.full && is_file(root, path))
            return true;
    }
    return false;
}

/* "3.11" of "python3.11" or "3.11.7"; absent where there is no such beginning */
static struct rc_str read_version(struct rc_str text)
{
    size_t n = 0;
    unsigned points = 0;

    while (n < text.n && ((text.p[n] >= '0' && text.p[n] <= '9') || (text.p[n] == '.' && points == 0)))
        points += text.p[n++] == '.';
    while (n > 0 && text.p[n - 1] == '.')
        n--;
    return points && n > 2 && n < VERSION_SIZE ? (struct rc_str){ text.p, n } : RC_ABSENT;
}

/* Follows the links of the program's own name; the folders may be links, too. */
static void follow_links(const char *root, char path[RC_FILES_PATH])
{
    char link[RC_FILES_PATH];
    char next[RC_FILES_PATH];

    for (unsigned i = 0; i < LINKS_MAX; i++) {
        struct rc_arena arena = { .base = next, .size = sizeof(next) };
        struct rc_str to = rc_files_link(root, path, "", link);
        struct rc_str name;
        struct rc_str folder = rc_str_split_last(rc_str(path), '/', &name);

        if (!to.p)
            return;
        rc_format(&arena, *to.p == '/' ? "%S" : "%S/%S", *to.p == '/' ? &to : &folder, &to);
        if (arena.full || !keep_path(rc_str(next), path))
            return;
    }
}

/* What stands before the last two slashes: /opt/venv of /opt/venv/bin/python */
static struct rc_str read_prefix(const char *path)
{
    struct rc_str rest;

    return rc_str_split_last(rc_str_split_last(rc_str(path), '/', &rest), '/', &rest);
}

static void add_folder(struct rc_python *python, const char *path)
{
    if (python->count < RC_PYTHON_FOLDERS && keep_path(rc_str(path), python->folder[python->count]))
        python->count++;
}

static void add_places(struct rc_python *python, const char *prefix, struct rc_str version)
{
    char path[RC_FILES_PATH];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct rc_arena arena = { .base = path, .size = sizeof(path) };

        add_folder(python, rc_format(&arena, places[i], prefix, &version));
    }
}

static void add_system_places(struct rc_python *python, struct rc_str version)
{
    char path[RC_FILES_PATH];

    for (size_t i = 0; i < sizeof(system_places) / sizeof(system_places[0]); i++) {
        struct rc_arena arena = { .base = path, .size = sizeof(path) };

        add_folder(python, rc_format(&arena, system_places[i], &version));
    }
    add_folder(python, "/usr/lib/python3/dist-packages");
}

static void add_user_place(struct rc_python *python, const struct rc_env *env, struct rc_str version)
{
    struct rc_str home = rc_env_get(env, "HOME");
    struct rc_str base = rc_env_get(env, "PYTHONUSERBASE");
    char path[RC_FILES_PATH];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };

    if (rc_env_get(env, "PYTHONNOUSERSITE").n || (!base.n && !home.n))
        return;
    add_folder(python,
               rc_format(&arena, base.n ? "%S/lib/python%S/site-packages" : "%S/.local/lib/python%S/site-packages",
                         base.n ? &base : &home, &version));
}

/* An installation's: the user's own packages come before it. */
static void add_installation(struct rc_python *python, const char *prefix, const struct rc_env *env,
                             struct rc_str version)
{
    add_user_place(python, env, version);
    if (strcmp(prefix, "/usr") == 0)
        add_system_places(python, version);
    add_places(python, prefix, version);
}

/* The value of a line "home = /usr/bin" of pyvenv.cfg */
static struct rc_str find_setting(struct rc_str file, const char *name)
{
    struct rc_str line;

    while (rc_files_next_line(&file, &line)) {
        struct rc_str value;

        if (rc_str_is(rc_files_trim(rc_str_split(line, '=', &value)), name) && value.p)
            return rc_files_trim(value);
    }
    return RC_ABSENT;
}

static void add_path(struct rc_python *python, struct rc_str list)
{
    char path[RC_FILES_PATH];

    while (list.p) {
        struct rc_str folder = rc_str_split(list, ':', &list);

        if (keep_path(folder, path))
            add_folder(python, path);
    }
}

/* A venv has a file pyvenv.cfg beside its bin, and the program there is a link to the installation's. */
static bool look_around(const char *root, char path[RC_FILES_PATH], const struct rc_env *env, struct rc_python *python)
{
    char text[HEAD_SIZE];
    char base[RC_FILES_PATH];
    struct rc_str home = rc_env_get(env, "PYTHONHOME");
    struct rc_str file;
    struct rc_str version;
    struct rc_str rest;
    bool good = keep_path(read_prefix(path), python->prefix);

    file = (struct rc_str){ text, good ? rc_files_read(root, python->prefix, "pyvenv.cfg", text, sizeof(text)) : 0 };
    follow_links(root, path);
    if (!good || !keep_path(read_prefix(path), base))
        return false;
    version = rc_str_base_name(rc_str(path));
    version = rc_str_starts(version, "python") ? read_version((struct rc_str){ version.p + 6, version.n - 6 })
                                               : RC_ABSENT;
    if (!version.p)
        version = read_version(find_setting(file, "version"));
    if (!version.p)
        version = read_version(find_setting(file, "version_info"));
    if (!version.p)
        return false;
    add_path(python, rc_env_get(env, "PYTHONPATH"));
    if (file.n > 0) {
        add_places(python, python->prefix, version);
        if (!rc_str_is(find_setting(file, "include-system-site-packages"), "true"))
            return true;
    } else if (!keep_path(home.n ? rc_str_split(home, ':', &rest) : rc_str(base), python->prefix)) {
        return false;
    }
    add_installation(python, file.n > 0 ? base : python->prefix, env, version);
    return true;
}

static bool is_python(struct rc_str path)
{
    return rc_str_starts(rc_str_base_name(path), "python");
}

/* "#!/opt/venv/bin/python3.11", "#!/usr/bin/env python3": absent where no Python runs the script */
static struct rc_str read_shebang(struct rc_str head)
{
    struct rc_str rest;
    struct rc_str line = rc_files_trim(rc_str_split((struct rc_str){ head.p + 2, head.n - 2 }, '\n', &rest));
    struct rc_str program = rc_str_split(line, ' ', &rest);

    if (rc_str_is(rc_str_base_name(program), "env") && rest.p)
        program = rc_str_split(rc_files_trim(rest), ' ', &rest);
    return is_python(program) ? program : RC_ABSENT;
}

bool rc_python_find(const char *root, struct rc_str program, const struct rc_env *env, struct rc_python *python)
{
    char path[RC_FILES_PATH];
    char text[HEAD_SIZE];
    struct rc_str head;

    python->count = 0;
    python->prefix[0] = '\0';
    if (!program.n || !find_program(root, program, env, path))
        return false;
    if (!is_python(rc_str(path))) {
        head = (struct rc_str){ text, rc_files_read(root, path, "", text, sizeof(text)) };
        if (!rc_str_starts(head, "#!"))
            return false;
        program = read_shebang(head);
        if (!find_program(root, program.p ? program : RC_STR("python3"), env, path))
            return false;
    }
    if (look_around(root, path, env, python))
        return true;
    python->count = 0;
    return false;
}
