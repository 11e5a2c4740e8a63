-- SPDX-License-Identifier: Apache-2.0
--
-- job_submit.lua - the gate: every new job waits until Stint says where it runs.
--
-- A script of slurmctld's plugin job_submit/lua ("JobSubmitPlugins=lua"), for Slurm 22.05 to 26.05. It is job_submit.lua
-- beside slurm.conf, or a module of the one that a site has there already:
--
--     local stint = dofile("/usr/share/stint/slurm/job_submit.lua")
--     slurm_job_submit = stint.closed(function(job, partitions, uid)
--         -- what the site wants
--         return stint.submit(job, partitions, uid)
--     end)
--     slurm_job_modify = stint.modify
--     return slurm.SUCCESS
--
-- It fails closed: what raises an error refuses the job, while up to 24.11 Slurm itself would accept it as it came.
--
-- A job waits because its begin time is put off by a hundred years; the time that its user wanted can be read off it,
-- and Slurm looks after its dependencies meanwhile. It is held as well, for Slurm refuses a new job at once if no node
-- that is there now could ever run it, unless it is held; the node that can is still to be rented.
--
-- A user may hold and release his job as ever: a hold of his puts it off by twice as much, so that the two are told
-- apart. Only root and the user that slurmctld runs as may bring the time forward; anybody else who sets one sets the
-- one behind the gate. Who moves his job to a partition that is gated moves it behind the gate.
--
-- Jobs of scrontab (whose times are Slurm's own) and jobs of a reservation (which only its own nodes can run) are let
-- pass. The components of a heterogeneous job are gated one by one, as each comes here by itself.
--
-- The environment of slurmctld may name the partitions to gate: STINT_GATE=cloud,spot. Jobs that name no partition at
-- all count as "default". Without it every job is gated.

local GATE = 3155760000              -- seconds: SLURM_GATE_S of src/engine/slurm/slurm_protocol.h
local GATED_FROM = GATE + 1700000000 -- likewise SLURM_GATED_FROM

local gated = os.getenv("STINT_GATE")

-- The user that slurmctld runs as.
local function find_own_uid()
    for line in io.lines("/proc/self/status") do
        local uid = line:match("^Uid:%s+(%d+)")
        if uid then
            return tonumber(uid)
        end
    end
end

local own_uid = find_own_uid()

-- Whether the two lists with commas have a name in common.
local function lists_meet(list, names)
    for name in names:gmatch("[^,]+") do
        for other in list:gmatch("[^,]+") do
            if name == other then
                return true
            end
        end
    end
    return false
end

local function is_gated(job)
    if job.cron_job or (job.reservation or "") ~= "" then
        return false
    end
    return gated == nil or lists_meet(gated, job.partition or "default")
end

-- The same of a job that is there already, by its record.
local function is_there_gated(record)
    if (record.resv_name or "") ~= "" then
        return false
    end
    return gated == nil or lists_meet(gated, record.partition or "")
end

-- Whatever time its user names stands for itself: only one before GATED_FROM can be read off again, so a later one is
-- brought forward to that.
local function put_off(begin)
    return math.max(math.min(begin or 0, GATED_FROM - 1), os.time()) + GATE
end

-- sbatch -H and scontrol hold: twice as far.
local function close_gate(job)
    job.begin_time = put_off(job.begin_time) + (job.priority == 0 and GATE or 0)
end

local function submit(job)
    if is_gated(job) then
        close_gate(job)
        job.priority = 0
    end
    return slurm.SUCCESS
end

local function modify(job, record, _, uid)
    if uid == 0 or uid == own_uid then
        return slurm.SUCCESS
    end
    local is_moved = gated and job.partition and lists_meet(gated, job.partition)
    local is_put_off = job.priority == 0 or (job.begin_time or 0) ~= 0
    if is_moved or (is_put_off and is_there_gated(record)) then
        close_gate(job)
    end
    return slurm.SUCCESS
end

-- The same function, but whatever goes wrong in it refuses the job.
local function closed(decide)
    return function(...)
        local is_good, answer = pcall(decide, ...)
        if is_good then
            return answer
        end
        slurm.log_error("the gate of Stint refused a job, because its script failed: %s", tostring(answer))
        return slurm.ERROR
    end
end

local stint = { submit = closed(submit), modify = closed(modify), closed = closed }

-- What slurmctld calls, unless the script of the site has its own.
slurm_job_submit = slurm_job_submit or stint.submit
slurm_job_modify = slurm_job_modify or stint.modify

return stint
