/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate between mock ports, which write down what reaches them, and a real store.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/test/check.h"
#include "daemon/gate.h"

enum { SAID_SIZE = 2048 };

struct stage {
    struct catalogue catalogue;
    struct shapes shapes;
    struct sense *sense; /* NULL: nothing is checked */
    struct journal journal;
    struct store *store;
    sqlite3 *other; /* another user of the store's file */
    struct gate *gate;
    char path[64];
    msec_t settle_ms;
    char said[SAID_SIZE];  /* what reached the mock ports */
    char heard[SAID_SIZE]; /* what the controller would hear of rejections */
};

__attribute__((format(printf, 2, 3))) static void say(char *said, const char *format, ...)
{
    const size_t used = strlen(said);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(said + used, SAID_SIZE - used, format, arguments);
    va_end(arguments);
}

static void mock_admit(void *self, uint64_t instance)
{
    say(((struct stage *)self)->said, "admit %" PRIu64 ";", instance);
}

static void mock_retire(void *self, uint64_t instance)
{
    say(((struct stage *)self)->said, "retire %" PRIu64 ";", instance);
}

static void mock_forget(void *self, uint64_t instance)
{
    say(((struct stage *)self)->said, "forget %" PRIu64 ";", instance);
}

static void mock_cancel(void *self, uint64_t key, uint64_t task)
{
    say(((struct stage *)self)->said, "cancel %" PRIu64 " %" PRIu64 ";", key, task);
}

static void mock_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    say(((struct stage *)self)->said, "place %" PRIu64 " %" PRIu64 " %" PRIu64 ";", key, task,
        instance);
}

static void mock_queue(void *self, uint64_t key, uint64_t task)
{
    say(((struct stage *)self)->said, "queue %" PRIu64 " %" PRIu64 ";", key, task);
}

static void mock_stop(void *self, uint64_t key, uint64_t task)
{
    say(((struct stage *)self)->said, "stop %" PRIu64 " %" PRIu64 ";", key, task);
}

static void mock_list(void *self, uint64_t key)
{
    say(((struct stage *)self)->said, "list %" PRIu64 ";", key);
}

static void mock_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    say(((struct stage *)self)->said, "rent %" PRIu64 " x%u of %u;", first, count, offer);
}

static void mock_give_back(void *self, uint64_t instance)
{
    say(((struct stage *)self)->said, "give-back %" PRIu64 ";", instance);
}

static const struct engine_ops mock_engine = {
    .admit = mock_admit,
    .retire = mock_retire,
    .forget = mock_forget,
    .cancel = mock_cancel,
    .place = mock_place,
    .queue = mock_queue,
    .stop = mock_stop,
    .list = mock_list,
};

static const struct cloud_ops mock_cloud = {
    .rent = mock_rent,
    .give_back = mock_give_back,
    .list = mock_list,
};

static void on_engine(void *context, const struct engine_event *event)
{
    say(((struct stage *)context)->heard, "engine %d task %" PRIu64 " key %" PRIu64 ";",
        (int)event->kind, event->task, event->key);
}

static void on_cloud(void *context, const struct cloud_event *event)
{
    say(((struct stage *)context)->heard, "cloud %d instance %" PRIu64 ";", (int)event->kind,
        event->instance);
}

static void on_withdrawn(void *context, uint64_t instance)
{
    say(((struct stage *)context)->heard, "withdrawn %" PRIu64 ";", instance);
}

static void on_withheld(void *context, const struct gate_act *act, enum sense_verdict why)
{
    say(((struct stage *)context)->heard, "withheld %s: %s;", gate_act_word(act->kind),
        sense_text(why));
}

static void open_gate(struct stage *stage, bool asks)
{
    const struct gate_config config = {
        .engine = { .ops = &mock_engine, .self = stage },
        .cloud = { .ops = &mock_cloud, .self = stage },
        .journal = &stage->journal,
        .catalogue = &stage->catalogue,
        .node_prefix = "st-",
        .asks = asks,
        .settle_ms = stage->settle_ms,
        .sense = stage->sense,
        .on_withdrawn = on_withdrawn,
        .on_withheld = on_withheld,
        .on_engine = on_engine,
        .on_cloud = on_cloud,
        .context = stage,
    };

    stage->gate = gate_create(&config);
}

static struct stage *begin(bool asks)
{
    static struct stage stage;
    const struct machine_type type = { .capacity = { { 4000, 4096, 0 } } };
    const struct price_change price = { .at = 0, .per_hour = 1000 };
    const struct offer offer = { .billing = { 1, 0 }, .price = { &price, 1 } };
    struct error error = { "" };

    stage = (struct stage){ 0 };
    (void)snprintf(stage.path, sizeof(stage.path), "/tmp/stint-test-gate-%d.db", (int)getpid());
    catalogue_init(&stage.catalogue);
    (void)catalogue_add_type(&stage.catalogue, "small", "s", &type);
    (void)catalogue_add_offer(&stage.catalogue, "a", &offer);
    journal_init(&stage.journal);
    if (store_open(stage.path, &stage.store, &error) < 0)
        fail_msg("%s", error.text);
    open_gate(&stage, asks);
    return &stage;
}

static void end(struct stage *stage)
{
    char side[80];

    gate_destroy(stage->gate);
    sense_destroy(stage->sense);
    if (stage->sense != NULL)
        shapes_done(&stage->shapes);
    journal_done(&stage->journal);
    store_close(stage->store);
    catalogue_done(&stage->catalogue);
    (void)unlink(stage->path);
    (void)snprintf(side, sizeof(side), "%s-wal", stage->path);
    (void)unlink(side);
    (void)snprintf(side, sizeof(side), "%s-shm", stage->path);
    (void)unlink(side);
}

static void rent(struct stage *stage, uint64_t first, uint32_t count)
{
    const struct cloud_port port = gate_cloud_port(stage->gate);

    port.ops->rent(port.self, first, count, 0);
}

static void retire(struct stage *stage, uint64_t instance)
{
    const struct engine_port engine = gate_engine_port(stage->gate);

    engine.ops->retire(engine.self, instance);
}

/* As the controller does when the machine has left. */
static void give_back_left(struct stage *stage, uint64_t instance)
{
    const struct cloud_port cloud = gate_cloud_port(stage->gate);

    cloud.ops->give_back(cloud.self, instance);
}

static void give_back(struct stage *stage, uint64_t instance)
{
    retire(stage, instance);
    give_back_left(stage, instance);
}

static void place(struct stage *stage, uint64_t key, uint64_t task, uint64_t instance)
{
    const struct engine_port port = gate_engine_port(stage->gate);

    port.ops->place(port.self, key, task, instance);
}

/* A whole turn. */
static void turn(struct stage *stage)
{
    struct error error = { "" };

    gate_note(stage->gate, 1000);
    if (journal_write(&stage->journal, stage->store, &error) < 0)
        fail_msg("%s", error.text);
    gate_pass(stage->gate);
}

static void hear_cloud(struct stage *stage, enum cloud_event_kind kind, uint64_t instance)
{
    gate_heard_cloud(stage->gate,
                     &(struct cloud_event){ .kind = kind, .at = 2000, .instance = instance });
}

static void hear_engine(struct stage *stage, enum engine_event_kind kind, uint64_t task,
                        uint64_t key)
{
    gate_heard_engine(stage->gate,
                      &(struct engine_event){ .kind = kind, .at = 2000, .task = task, .key = key });
}

TEST(nothing_passes_before_it_is_written)
{
    struct stage *stage = begin(false);
    struct error error = { "" };

    rent(stage, 7, 2);
    assert_string_equal(stage->said, "");
    gate_note(stage->gate, 1000);
    assert_string_equal(stage->said, "");
    assert_int_equal(store_open_intents(stage->store), 0);

    assert_int_equal(journal_write(&stage->journal, stage->store, &error), 0);
    assert_int_equal(store_open_intents(stage->store), 2);
    assert_string_equal(stage->said, "");
    gate_pass(stage->gate);

    assert_string_equal(stage->said, "rent 7 x2 of 0;");
    assert_false(gate_has_acts(stage->gate));
    end(stage);
}

TEST(what_cannot_be_written_waits_and_is_not_lost)
{
    struct stage *stage = begin(false);
    struct error error = { "" };

    rent(stage, 1, 1);
    gate_note(stage->gate, 1000);
    assert_int_equal(sqlite3_open(stage->path, &stage->other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(stage->other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_true(journal_write(&stage->journal, stage->store, &error) < 0);
    assert_true(strlen(error.text) > 0);
    assert_int_equal(store_open_intents(stage->store), 0);
    assert_string_equal(stage->said, "");

    assert_int_equal(sqlite3_exec(stage->other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    turn(stage);
    assert_int_equal(store_open_intents(stage->store), 1);
    assert_string_equal(stage->said, "rent 1 x1 of 0;");
    (void)sqlite3_close(stage->other);
    end(stage);
}

TEST(acts_pass_once_and_in_the_order_of_asking)
{
    struct stage *stage = begin(false);

    rent(stage, 1, 1);
    place(stage, 2, 40, 1);
    give_back(stage, 1);
    turn(stage);
    turn(stage);

    assert_string_equal(stage->said, "rent 1 x1 of 0;place 2 40 1;retire 1;give-back 1;");
    end(stage);
}

TEST(what_happens_closes_what_was_meant)
{
    struct stage *stage = begin(false);

    rent(stage, 1, 3);
    place(stage, 4, 40, 1);
    place(stage, 5, 41, 1);
    turn(stage);
    assert_int_equal(store_open_intents(stage->store), 5);
    hear_cloud(stage, CLOUD_RUNNING, 1);
    hear_cloud(stage, CLOUD_REFUSED, 2);
    hear_cloud(stage, CLOUD_GONE, 3);
    hear_engine(stage, ENGINE_TASK_STARTED, 40, 4);
    hear_engine(stage, ENGINE_TASK_LOST, 41, 5);
    turn(stage);

    assert_int_equal(store_open_intents(stage->store), 0);
    assert_int_equal(gate_open_count(stage->gate), 0);
    end(stage);
}

static void stop(struct stage *stage, uint64_t key, uint64_t task)
{
    const struct engine_port port = gate_engine_port(stage->gate);

    port.ops->stop(port.self, key, task);
}

TEST(the_end_of_a_task_closes_its_stop)
{
    struct stage *stage = begin(false);

    stop(stage, 4, 40);
    turn(stage);
    assert_int_equal(gate_open_count(stage->gate), 1);
    hear_engine(stage, ENGINE_TASK_FINISHED, 40, 0);
    turn(stage);

    assert_int_equal(gate_open_count(stage->gate), 0);
    assert_int_equal(store_open_intents(stage->store), 0);
    end(stage);
}

/* Its machine got a notice, and the task ended, in one turn. */
TEST(what_is_asked_of_a_task_whose_end_is_heard_in_the_same_turn_is_dropped)
{
    struct stage *stage = begin(false);

    stop(stage, 4, 40);
    stop(stage, 5, 41);
    hear_engine(stage, ENGINE_TASK_FINISHED, 40, 0);
    place(stage, 6, 40, 9); /* it came again */
    turn(stage);

    assert_string_equal(stage->said, "stop 5 41;place 6 40 9;");
    assert_int_equal(store_open_intents(stage->store), 2);
    stop(stage, 7, 40); /* the next turn has forgotten that it ended */
    turn(stage);
    assert_string_equal(stage->said, "stop 5 41;place 6 40 9;stop 7 40;");
    end(stage);
}

TEST(what_is_approved_of_a_task_that_ended_meanwhile_is_dropped)
{
    struct stage *stage = begin(true);

    stop(stage, 4, 40);
    turn(stage);
    assert_int_equal(gate_approve(stage->gate, 0), 1);
    hear_engine(stage, ENGINE_TASK_FINISHED, 40, 0);
    turn(stage);

    assert_string_equal(stage->said, "");
    assert_int_equal(gate_open_count(stage->gate), 0);
    end(stage);
}

/* Of a gang, only some tasks may have something open. */
TEST(a_job_that_is_off_closes_what_is_open_of_any_of_its_tasks)
{
    struct stage *stage = begin(false);

    place(stage, 4, 41, 9);
    place(stage, 5, 43, 9);
    turn(stage);
    gate_heard_engine(stage->gate, &(struct engine_event){
                                       .kind = ENGINE_JOB_WITHDRAWN,
                                       .at = 2000,
                                       .job = { .id = 40, .first_task_id = 40, .task_count = 3 },
                                   });

    assert_int_equal(gate_open_count(stage->gate), 1); /* of the next job */
    end(stage);
}

TEST(an_old_key_closes_nothing)
{
    struct stage *stage = begin(false);

    place(stage, 4, 40, 1);
    place(stage, 5, 40, 2);
    turn(stage);
    hear_engine(stage, ENGINE_TASK_LOST, 40, 4);
    turn(stage);

    assert_int_equal(store_open_intents(stage->store), 1);
    hear_engine(stage, ENGINE_TASK_STARTED, 40, 5);
    turn(stage);
    assert_int_equal(store_open_intents(stage->store), 0);
    end(stage);
}

TEST(a_task_that_is_found_running_is_still_to_be_stopped)
{
    struct stage *stage = begin(false);
    const struct engine_port port = gate_engine_port(stage->gate);

    port.ops->stop(port.self, 9, 40);
    turn(stage);
    hear_engine(stage, ENGINE_TASK_FOUND, 40, 3);
    turn(stage);
    assert_int_equal(store_open_intents(stage->store), 1);
    hear_engine(stage, ENGINE_TASK_FINISHED, 40, 0);
    turn(stage);

    assert_int_equal(store_open_intents(stage->store), 0);
    end(stage);
}

TEST(a_machine_and_its_return_are_two_intents)
{
    struct stage *stage = begin(false);

    rent(stage, 6, 1);
    give_back(stage, 6);
    turn(stage);
    assert_int_equal(store_open_intents(stage->store), 2);
    hear_cloud(stage, CLOUD_GONE, 6);
    turn(stage);

    assert_int_equal(store_open_intents(stage->store), 0);
    end(stage);
}

static void restore(void *context, const struct store_intent *intent)
{
    gate_restore(((struct stage *)context)->gate, intent);
}

TEST(what_an_earlier_life_left_open_is_closed_by_the_first_lists)
{
    struct stage *stage = begin(false);
    struct error error = { "" };

    rent(stage, 1, 2);
    place(stage, 3, 40, 1);
    turn(stage);
    give_back(stage, 1);
    turn(stage);
    gate_destroy(stage->gate);
    open_gate(stage, false);
    stage->heard[0] = '\0';
    assert_int_equal(store_each_open_intent(stage->store, restore, stage, &error), 0);
    assert_int_equal(gate_open_count(stage->gate), 4);

    hear_cloud(stage, CLOUD_FOUND, 1);
    assert_string_equal(stage->heard, "cloud 2 instance 1;"); /* a notice: it goes back */
    hear_cloud(stage, CLOUD_LISTED, 0);
    assert_int_equal(gate_open_count(stage->gate), 2); /* the return, and the place */
    hear_engine(stage, ENGINE_LISTED, 0, 0);
    assert_int_equal(gate_open_count(stage->gate), 1);
    hear_cloud(stage, CLOUD_GONE, 1);
    turn(stage);

    assert_int_equal(store_open_intents(stage->store), 0);
    end(stage);
}

TEST(the_return_of_a_machine_whose_offer_is_no_more_goes_out_again)
{
    struct stage *stage = begin(false);
    struct error error = { "" };

    rent(stage, 1, 1);
    turn(stage);
    give_back(stage, 1);
    turn(stage);
    gate_destroy(stage->gate);
    open_gate(stage, false);
    stage->heard[0] = '\0';
    stage->said[0] = '\0';
    assert_int_equal(store_each_open_intent(stage->store, restore, stage, &error), 0);
    gate_heard_cloud(stage->gate,
                     &(struct cloud_event){
                         .kind = CLOUD_FOUND, .at = 2000, .instance = 1, .offer = OFFER_NONE });

    assert_string_equal(stage->heard, "");
    assert_string_equal(stage->said, "give-back 1;");
    assert_int_equal(gate_open_count(stage->gate), 1);
    end(stage);
}

static void hear_listed(struct stage *stage, msec_t at)
{
    gate_heard_cloud(stage->gate, &(struct cloud_event){ .kind = CLOUD_LISTED, .at = at });
}

static void note_living(void *context, const struct store_instance *instance)
{
    say(((struct stage *)context)->heard, "living %" PRIu64 ";", instance->id);
}

TEST(a_machine_of_an_earlier_life_that_lists_do_not_show_is_sought_for_a_while)
{
    struct stage *stage = begin(false);
    struct error error = { "" };

    rent(stage, 1, 2);
    turn(stage);
    assert_false(gate_seeks(stage->gate));
    gate_destroy(stage->gate);
    stage->settle_ms = 90000;
    open_gate(stage, false);
    assert_int_equal(store_each_open_intent(stage->store, restore, stage, &error), 0);
    assert_true(gate_seeks(stage->gate));

    hear_listed(stage, 2000);
    assert_int_equal(gate_open_count(stage->gate), 2);
    hear_cloud(stage, CLOUD_FOUND, 1);
    assert_int_equal(gate_open_count(stage->gate), 1);
    hear_listed(stage, 91999);
    assert_true(gate_seeks(stage->gate));
    hear_listed(stage, 92000);

    assert_false(gate_seeks(stage->gate));
    assert_int_equal(gate_open_count(stage->gate), 0);
    turn(stage);
    stage->heard[0] = '\0';
    assert_int_equal(store_each_instance(stage->store, note_living, stage, &error), 0);
    assert_string_equal(stage->heard, "living 1;living 2;");
    end(stage);
}

TEST(what_this_life_asks_for_is_not_closed_by_a_list)
{
    struct stage *stage = begin(false);

    rent(stage, 1, 1);
    place(stage, 2, 40, 1);
    turn(stage);
    hear_cloud(stage, CLOUD_LISTED, 0);
    hear_engine(stage, ENGINE_LISTED, 0, 0);

    assert_int_equal(gate_open_count(stage->gate), 2);
    end(stage);
}

TEST(advice_waits_until_it_is_approved)
{
    struct stage *stage = begin(true);
    const struct engine_port port = gate_engine_port(stage->gate);

    rent(stage, 1, 1);
    place(stage, 2, 40, 1);
    port.ops->list(port.self, 3);
    turn(stage);
    assert_string_equal(stage->said, "list 3;"); /* to look is free */
    assert_int_equal(gate_proposal_count(stage->gate), 2);
    assert_int_equal(store_open_intents(stage->store), 0);

    assert_int_equal(gate_approve(stage->gate, gate_proposal(stage->gate, 1)->id), 1);
    turn(stage);
    assert_string_equal(stage->said, "list 3;place 2 40 1;");
    assert_int_equal(gate_approve(stage->gate, 99), 0);
    assert_int_equal(gate_approve(stage->gate, 0), 1);
    turn(stage);

    assert_string_equal(stage->said, "list 3;place 2 40 1;rent 1 x1 of 0;");
    assert_int_equal(gate_proposal_count(stage->gate), 0);
    end(stage);
}

TEST(a_second_wish_for_a_task_takes_the_first_ones_place)
{
    struct stage *stage = begin(true);

    place(stage, 2, 40, 1);
    turn(stage);

    const uint64_t id = gate_proposal(stage->gate, 0)->id;

    place(stage, 3, 40, 7);
    turn(stage);
    assert_int_equal(gate_proposal_count(stage->gate), 1);
    assert_int_equal(gate_approve(stage->gate, id), 1);
    turn(stage);

    assert_string_equal(stage->said, "place 3 40 7;");
    end(stage);
}

TEST(a_list_names_machines_that_wait_for_leave)
{
    struct stage *stage = begin(true);
    const struct cloud_port port = gate_cloud_port(stage->gate);

    rent(stage, 1, 2);
    turn(stage);
    port.ops->list(port.self, 5);
    turn(stage);

    assert_string_equal(stage->said, "list 5;");
    assert_string_equal(stage->heard, "cloud 4 instance 1;cloud 4 instance 2;");
    end(stage);
}

TEST(a_stop_that_is_rejected_is_one_that_is_refused_until_later)
{
    struct stage *stage = begin(true);
    const struct engine_port port = gate_engine_port(stage->gate);

    port.ops->stop(port.self, 3, 40);
    turn(stage);
    assert_int_equal(gate_reject(stage->gate, 0, 5000), 1);
    turn(stage);

    assert_string_equal(stage->said, "");
    assert_string_equal(stage->heard, "engine 12 task 40 key 3;"); /* ENGINE_TASK_KEPT */
    end(stage);
}

TEST(rejected_advice_comes_back_as_a_refusal)
{
    struct stage *stage = begin(true);

    rent(stage, 1, 2);
    place(stage, 3, 40, 9);
    turn(stage);
    assert_int_equal(gate_reject(stage->gate, 0, 5000), 2);
    turn(stage);

    assert_string_equal(stage->said, "");
    assert_string_equal(stage->heard,
                        "cloud 1 instance 1;cloud 1 instance 2;engine 9 task 40 key 3;");
    end(stage);
}

TEST(a_return_is_proposed_with_its_retirement_and_cannot_be_rejected)
{
    struct stage *stage = begin(true);

    retire(stage, 5);
    turn(stage);
    assert_int_equal(gate_proposal_count(stage->gate), 1);
    assert_int_equal(gate_reject(stage->gate, 0, 5000), 0);
    assert_int_equal(gate_proposal_count(stage->gate), 1);
    assert_int_equal(gate_approve(stage->gate, 0), 1);
    turn(stage);

    assert_string_equal(stage->said, "retire 5;");
    give_back_left(stage, 5); /* nobody is asked again */
    turn(stage);
    assert_string_equal(stage->said, "retire 5;give-back 5;");
    end(stage);
}

TEST(the_advice_that_a_task_waits_for_is_found_by_it_or_its_machine)
{
    struct stage *stage = begin(true);

    rent(stage, 5, 2);
    place(stage, 1, 40, 9);
    turn(stage);

    assert_int_equal(gate_proposal_about(stage->gate, 41, 6)->act.kind, GATE_RENT);
    assert_int_equal(gate_proposal_about(stage->gate, 40, 9)->act.kind, GATE_PLACE);
    assert_null(gate_proposal_about(stage->gate, 41, 0));
    assert_null(gate_proposal_about(stage->gate, 41, 4));
    assert_null(gate_proposal_about(stage->gate, 41, 7));
    assert_null(gate_proposal_about(stage->gate, 41, 9));
    end(stage);
}

TEST(advice_about_what_is_no_more_is_taken_back)
{
    struct stage *stage = begin(true);

    place(stage, 1, 40, 9);
    place(stage, 2, 41, 9);
    retire(stage, 8);
    turn(stage);
    hear_engine(stage, ENGINE_TASK_FINISHED, 40, 0);
    assert_int_equal(gate_proposal_count(stage->gate), 2);
    hear_cloud(stage, CLOUD_GONE, 8);
    hear_cloud(stage, CLOUD_GONE, 9);

    assert_int_equal(gate_proposal_count(stage->gate), 0);
    end(stage);
}

TEST(a_cancel_takes_back_advice_and_needs_no_leave)
{
    struct stage *stage = begin(true);
    const struct engine_port port = gate_engine_port(stage->gate);

    place(stage, 1, 40, 9);
    turn(stage);
    assert_int_equal(gate_proposal_count(stage->gate), 1);
    port.ops->cancel(port.self, 2, 40);
    turn(stage);
    assert_int_equal(gate_proposal_count(stage->gate), 0);
    assert_string_equal(stage->said, "cancel 2 40;");
    end(stage);
}

TEST(asking_no_more_approves_what_waits)
{
    struct stage *stage = begin(true);

    place(stage, 1, 40, 9);
    turn(stage);
    place(stage, 2, 41, 9);
    gate_ask(stage->gate, false);
    turn(stage);

    assert_string_equal(stage->said, "place 1 40 9;place 2 41 9;");
    end(stage);
}

TEST(asking_no_more_withdraws_rents_that_other_limits_allowed)
{
    struct stage *stage = begin(true);

    rent(stage, 1, 2);
    place(stage, 3, 40, 9);
    turn(stage);
    gate_ask(stage->gate, false);
    turn(stage);

    assert_string_equal(stage->said, "place 3 40 9;");
    assert_string_equal(stage->heard, "withdrawn 1;withdrawn 2;");
    assert_int_equal(gate_proposal_count(stage->gate), 0);
    assert_int_equal(gate_approve(stage->gate, 0), 0);
    end(stage);
}

TEST(the_return_of_a_machine_that_nobody_approved_takes_back_its_rent)
{
    struct stage *stage = begin(true);

    rent(stage, 1, 3);
    rent(stage, 4, 1);
    turn(stage);
    retire(stage, 2); /* between two others */
    turn(stage);
    assert_string_equal(stage->heard, "cloud 3 instance 2;"); /* gone */
    assert_int_equal(gate_proposal_count(stage->gate), 3);
    assert_null(gate_proposal_about(stage->gate, 0, 2));
    retire(stage, 4);
    retire(stage, 1);
    turn(stage);
    assert_int_equal(gate_proposal_count(stage->gate), 1);
    gate_approve(stage->gate, 0);
    turn(stage);

    assert_string_equal(stage->said, "rent 3 x1 of 0;");
    end(stage);
}

TEST(without_a_journal_only_what_is_harmless_passes)
{
    struct stage *stage = begin(false);
    const struct engine_port engine = gate_engine_port(stage->gate);
    const struct cloud_port cloud = gate_cloud_port(stage->gate);

    rent(stage, 7, 2);
    place(stage, 9, 4, 3);
    engine.ops->queue(engine.self, 10, 5);
    engine.ops->stop(engine.self, 11, 6);
    engine.ops->admit(engine.self, 2);
    give_back(stage, 1);
    cloud.ops->list(cloud.self, 12);
    gate_note(stage->gate, 1000);
    gate_pass_unwritten(stage->gate, 20000);

    assert_string_equal(stage->said, "admit 2;retire 1;give-back 1;list 12;");
    assert_non_null(strstr(stage->heard, "withdrawn 7;withdrawn 8;"));
    assert_non_null(strstr(stage->heard, "task 4 key 9;"));
    assert_non_null(strstr(stage->heard, "task 5 key 10;"));

    /* When the disk has room again, none of it comes back. */
    stage->said[0] = '\0';
    turn(stage);
    assert_string_equal(stage->said, "");
    assert_false(gate_has_acts(stage->gate));
    end(stage);
}

/* From here on orders are checked. */
static void check_sense(struct stage *stage)
{
    gate_destroy(stage->gate);
    shapes_init(&stage->shapes);
    stage->sense = sense_create(&stage->catalogue, &stage->shapes);
    open_gate(stage, false);
}

TEST(what_makes_no_sense_never_leaves_and_comes_back_as_a_refusal)
{
    struct stage *stage = begin(false);

    check_sense(stage);
    sense_limit(stage->sense, &(struct sense_limits){ .instances = 2 });
    rent(stage, 3, 3);
    place(stage, 9, 4, 3);
    rent(stage, 6, 2);
    turn(stage);

    assert_string_equal(stage->said, "rent 6 x2 of 0;");
    assert_string_equal(
        stage->heard, "cloud 1 instance 3;cloud 1 instance 4;cloud 1 instance 5;withheld rent: it "
                      "is above the limit of machines;engine 9 task 4 key 9;withheld place: no "
                      "job has this task;");
    assert_int_equal(gate_open_count(stage->gate), 2);
    end(stage);
}

/* By what is heard later the order may be wrong; when it was given it was right. */
TEST(orders_are_held_against_what_was_known_when_they_were_given)
{
    struct stage *stage = begin(false);

    check_sense(stage);
    sense_limit(stage->sense, &(struct sense_limits){ .instances = 1 });
    rent(stage, 3, 1);
    gate_heard_cloud(stage->gate, &(struct cloud_event){ .kind = CLOUD_REFUSED, .instance = 3 });
    rent(stage, 4, 1);
    turn(stage);

    assert_string_equal(stage->said, "rent 3 x1 of 0;rent 4 x1 of 0;");
    assert_string_equal(stage->heard, "");
    end(stage);
}

CHECK_MAIN(
    RUN(what_makes_no_sense_never_leaves_and_comes_back_as_a_refusal),
    RUN(orders_are_held_against_what_was_known_when_they_were_given),
    RUN(nothing_passes_before_it_is_written), RUN(what_cannot_be_written_waits_and_is_not_lost),
    RUN(acts_pass_once_and_in_the_order_of_asking), RUN(what_happens_closes_what_was_meant),
    RUN(the_end_of_a_task_closes_its_stop),
    RUN(what_is_asked_of_a_task_whose_end_is_heard_in_the_same_turn_is_dropped),
    RUN(what_is_approved_of_a_task_that_ended_meanwhile_is_dropped),
    RUN(a_job_that_is_off_closes_what_is_open_of_any_of_its_tasks), RUN(an_old_key_closes_nothing),
    RUN(a_task_that_is_found_running_is_still_to_be_stopped),
    RUN(a_machine_and_its_return_are_two_intents),
    RUN(what_an_earlier_life_left_open_is_closed_by_the_first_lists),
    RUN(the_return_of_a_machine_whose_offer_is_no_more_goes_out_again),
    RUN(a_machine_of_an_earlier_life_that_lists_do_not_show_is_sought_for_a_while),
    RUN(what_this_life_asks_for_is_not_closed_by_a_list), RUN(advice_waits_until_it_is_approved),
    RUN(a_stop_that_is_rejected_is_one_that_is_refused_until_later),
    RUN(a_second_wish_for_a_task_takes_the_first_ones_place),
    RUN(a_list_names_machines_that_wait_for_leave), RUN(rejected_advice_comes_back_as_a_refusal),
    RUN(a_return_is_proposed_with_its_retirement_and_cannot_be_rejected),
    RUN(the_advice_that_a_task_waits_for_is_found_by_it_or_its_machine),
    RUN(advice_about_what_is_no_more_is_taken_back),
    RUN(a_cancel_takes_back_advice_and_needs_no_leave), RUN(asking_no_more_approves_what_waits),
    RUN(asking_no_more_withdraws_rents_that_other_limits_allowed),
    RUN(the_return_of_a_machine_that_nobody_approved_takes_back_its_rent),
    RUN(without_a_journal_only_what_is_harmless_passes))
