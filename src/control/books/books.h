/* SPDX-License-Identifier: Apache-2.0 */
/*
 * books.h - what was spent, and what is learned from what happens: the ledger's accounts (accounts.c), how
 * long jobs run and how tasks slow each other down (lessons.c), what offers can be had at what price
 * (offers.c), and whether machines prove good (brake.c).
 *
 * The books read the state and write nothing there but what a lesson is for: that a decision is wanted, that a
 * machine is good, when an offer may be asked for again.
 */
#ifndef STINT_CONTROL_BOOKS_H
#define STINT_CONTROL_BOOKS_H

#include "control/books/ledger.h"
#include "control/state/state.h"
#include "learn/forecast.h"

/* One per row of the view's jobs: what its runtime teaches when it has ended. */
struct job_lesson {
    struct runtime_traits traits;
    struct forecast forecast; /* what the policy was given, and by what source */
    msec_t executed_ms;       /* by its tasks that have finished, added up */
    uint32_t next, prev;      /* followed jobs of its user, a ring */
    bool is_followed;         /* it is judged again as others of its user end */
};

/* One per offer: machines of it that did not become ready, since the last that did. */
struct boot_record {
    msec_t failed_at;   /* what was asked for before that is no news */
    uint32_t failures;  /* those that were asked for before the last failure count once */
    uint32_t too_small; /* that had not the room for which they were rented, one after the other */
};

/* What a run has cost; while it is on: what its task owed before. */
struct run_cost {
    money_t cost;
    msec_t since;
    bool is_on;
};

/* What is lost with an instance if the cloud takes it, and which runs that may be moved were saved there after a
 * notice. */
struct at_stake {
    money_t cost;
    uint32_t saved;
    uint32_t lost;
};

struct books {
    struct state *state;
    struct ledger *ledger;
    struct knowledge knowledge;
    struct job_lesson *lessons;
    uint32_t lessons_room;
    struct map unknown_of; /* by user: the next of its followed jobs to judge again */
    struct run_cost *runs; /* per row of the view's tasks: the last run */
    uint32_t runs_room;
    struct at_stake *at_stake; /* per row of the view's instances */
    uint32_t at_stake_room;
    uint64_t earlier_saved; /* as stats.notice_saved and notice_lost, of earlier processes */
    uint64_t earlier_lost;
    double expected_rest; /* below one micro-dollar, that stats.expected_loss has not */
    uint32_t *rated; /* instances of which a task has reported its rate since the last decision */
    uint32_t rated_count;
    uint32_t rated_room;
    struct boot_record *boots; /* per offer of the catalogue */
    uint32_t boot_count;
    msec_t *noted_lasts;   /* per offer: how long its machines lasted when that was news */
    msec_t *refused_since; /* per offer: no machine was granted since it was refused then; or -1 */
    struct controller_brake brake;
    msec_t next_proof;   /* when a machine may have proved good, or the next probe is due */
    msec_t proven_at;    /* when the latest machine that became ready was asked for */
    msec_t next_unblock; /* when the next refused offer may be asked again */
    msec_t next_price;   /* when the next price changes */
    msec_t next_risks;   /* when what was learned of interruptions has faded a little */
    struct id_set gone;  /* ids of instances whose bill has ended, to know late news of them: those
                               that were heard of since 'gone_since' */
    struct id_set
        gone_before; /* and in the time before; what nobody spoke of in both is forgotten */
    msec_t gone_since;
};

void books_init(struct books *books, struct state *state);
void books_done(struct books *books);

/*
 * Accounts.
 */

/* The instance begins to be billed. False: it is already, or has no account. */
bool books_open(struct books *books, uint32_t instance, msec_t billed_from);

/* The bill has ended, as the event tells. */
void books_close(struct books *books, uint32_t instance, const struct cloud_event *event);

/* It takes work; the books of one that was adopted wait for the end of the engine's list. */
void books_ready(struct books *books, uint32_t instance, msec_t at);

/* Whether it took work by the account that an earlier process kept. */
bool books_was_ready(const struct books *books, uint64_t instance);

/* Open the books of a machine that works already. */
void books_catch_up(struct books *books, uint32_t instance);

/* The task runs on the instance, or is off it. */
void books_enter(struct books *books, uint32_t instance, uint32_t task, msec_t at);
/* The task ran there from then on, before its machine was heard of. */
void books_ran(struct books *books, uint32_t instance, uint32_t task, msec_t from);

void books_leave(struct books *books, uint32_t instance, uint32_t task, msec_t at);

/* A task that nobody knew; maybe another process did. */
void books_welcome(struct books *books, uint32_t task);

/* The task has ended: whoever subscribed learns what it cost. */
void books_settle(struct books *books, uint32_t task);

/* Whether the bill of the instance has ended. */
bool books_is_over(struct books *books, uint64_t instance);

/* Clouds name machines that went for hours at the most. */
void books_forget_gone(struct books *books, msec_t at);

/*
 * What is lost with machines that the cloud takes away: see losses.c.
 */

void losses_done(struct books *books);
void losses_resume_notices(struct books *books, uint64_t saved, uint64_t lost);

/* Reported by the accounts. */
void losses_run_begins(struct books *books, uint32_t task, msec_t at);
void losses_run_ends(struct books *books, uint32_t instance, uint32_t task, msec_t at);

/* What the run, which has ended on the instance, had done is lost. */
void losses_run_lost(struct books *books, uint32_t instance, uint32_t task);

/* The instance is no more, its account still open; whether the cloud took it. */
void losses_machine_ends(struct books *books, uint32_t instance, msec_t at, bool was_taken);

/*
 * Lessons.
 */

/* A job begins to be known; its estimate becomes the one that the policy will see: see forecast.h, where the time limit is
 * what the engine says. */
struct job_lesson books_lesson(const struct books *books, struct job_spec *spec);

/* The engine says another estimate of the job: so the policy sees another, as above. */
void books_new_estimate(struct books *books, uint32_t job, msec_t given);

void books_add_lesson(struct books *books, uint32_t job, const struct job_lesson *lesson);

/* How long the task will run, by what is known now. */
msec_t books_expected_ms(const struct books *books, uint32_t task);

/* If nothing is known of the job, whose lesson was added, it is judged again as others of its user end; until it ends. */
void books_follow(struct books *books, uint32_t job);
void books_unfollow(struct books *books, uint32_t job);

/* So long a job with these traits ran; 'seen' as for runtimes_learn. */
void books_teach(struct books *books, const struct runtime_traits *traits, msec_t runtime_ms,
                 uint64_t seen);

/* A task of the job has run to its end; the last one makes the job a lesson, by its mean. */
void books_learn_runtime(struct books *books, uint32_t task, msec_t at);

/* Note what the co-located tasks' throughputs tell, by sets of shapes. */
void books_observe(struct books *books);

/* The task, which runs, has reported its rate. */
void books_rated(struct books *books, uint32_t task);

/* Note what the reports since the last time tell of pairs of workloads (pairs.c). */
void books_observe_pairs(struct books *books);

/*
 * Offers.
 */

/* The offer is left alone for so long. */
void books_block(struct books *books, uint32_t offer, msec_t at, msec_t length);

/*
 * The cloud had no machine of the offer, or had one. What has been refused for some time is expected to be refused for as long again, but
 * an hour at the most; a single refusal may be an accident.
 */
void books_refused(struct books *books, uint32_t offer, msec_t at);
void books_granted(struct books *books, uint32_t offer);

/* When the next price changes after 'now'; MSEC_NEVER: none does. */
msec_t books_next_price(const struct catalogue *catalogue, msec_t now);

/* The catalogue has more offers, which the view knows already, or other ones are former. */
void books_catalogue_changed(struct books *books);

/* Prices that changed and offers that may be asked again: all reservation prices are new. */
void books_refresh_offers(struct books *books, msec_t now);

/* How long machines of each offer last, by what was learned of interruptions. */
void books_refresh_risks(struct books *books, msec_t now);

/*
 * The brake: how many machines that have not proved good may be there at a time.
 */

#define BRAKE_OFF UINT64_MAX
uint64_t brake_allows(const struct books *books);
uint64_t brake_unproven(const struct books *books);
uint32_t brake_failures(const struct books *books);
bool brake_is_probing(const struct books *books);
bool brake_is_coming(const struct view *view, uint32_t instance);
void brake_proved_good(struct books *books, uint32_t instance);

/* It leaves: if starts there have failed, that counts. */
void brake_starts_failed(struct books *books, uint32_t instance);

/* It became ready, or never will be: what to think of its offer, and of all that is rented. */
void brake_boot_worked(struct books *books, uint32_t instance);
void brake_boot_failed(struct books *books, uint32_t instance, msec_t at);

/* What it was rented for does not fit it, or does, now that the engine has said what it has. */
void brake_room_told(struct books *books, uint32_t instance, bool is_too_small, msec_t at);

/* Which machines have proved good by now, and when to look again. */
void brake_check_proofs(struct books *books);

#endif
