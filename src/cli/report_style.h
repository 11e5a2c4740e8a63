/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_style.h - the style sheet of reports: that of the daemon's page, put into the program by the build.
 */
#ifndef STINT_CLI_REPORT_STYLE_H
#define STINT_CLI_REPORT_STYLE_H

extern const char report_style[];

#endif
