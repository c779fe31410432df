#pragma once
#include <sqlite3.h>

// SQLite's "copy it" and "it outlives the call" are casts of numbers to function pointers, which Swift can't import.

static inline int kith_bind_text_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT);
}

static inline int kith_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

// The caller keeps the bytes until the statement is reset.
static inline int kith_bind_text_borrowed(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC);
}

static inline int kith_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

// sqlite3_db_config takes variable arguments, which Swift can't call.
static inline int kith_set_checkpoint_on_close(sqlite3 *database, int is_on) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_on ? 0 : 1, (int *)0);
}

static inline void kith_result_text_copy(sqlite3_context *context, const void *bytes, int count) {
    sqlite3_result_text(context, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT);
}

static inline void kith_result_blob_copy(sqlite3_context *context, const void *bytes, int count) {
    sqlite3_result_blob(context, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

// sqlite3_vtab_config takes variable arguments too.
static inline int kith_set_innocuous(sqlite3 *database) {
    return sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
}

// A cursor over the elements of an array: what SQLite knows of stands first.
typedef struct kith_elements_cursor {
    sqlite3_vtab_cursor base;
    // A copy of the array's text, made by sqlite3_malloc64.
    unsigned char *text;
    long count;
    // Where the present element stands; start is below zero after the last one.
    long start, end;
    sqlite3_int64 place;
} kith_elements_cursor;
