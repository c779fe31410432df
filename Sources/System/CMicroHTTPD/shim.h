#pragma once
#include <microhttpd.h>
#include <stdint.h>

// Variadic functions of libmicrohttpd, each with the options Kith uses and nothing else.

/// Starts a daemon with one thread of its own, which is given its connections by `MHD_add_connection`. `on_uri` gets the request line's target untouched
/// and returns the context of the request; `on_completed` is called once for each context that was made.
static inline struct MHD_Daemon *kith_mhd_start(
    unsigned int connection_limit, unsigned int timeout_seconds, size_t connection_memory,
    void *(*on_uri)(void *, const char *, struct MHD_Connection *), MHD_AccessHandlerCallback on_access,
    MHD_RequestCompletedCallback on_completed, void *context) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_access,
        context,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, context,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, context,
        MHD_OPTION_END);
}

/// How many connections the daemon has.
static inline unsigned int kith_mhd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/// The time without a byte after which the connection is closed; 0 is never.
static inline enum MHD_Result kith_mhd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The descriptor of the connection's socket, or -1.
static inline int kith_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}
