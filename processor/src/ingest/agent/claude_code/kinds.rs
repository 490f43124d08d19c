//! The kinds of Claude Code's records that are known and hold nothing to remember, as seen from 1.0.24 to 2.1.284.
//! A kind that is neither read nor listed here is counted as unknown, so that a change of the format shows in `status`.

/// Kinds of records that hold nothing to remember.
pub(super) const BOOKKEEPING: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "file-history-delta",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "relocated",
    "result",
    "speculation-accept",
    "started",
    "tag",
    "task-summary",
    "tool_result",
    "tool_use",
    "worktree-state",
];

/// Kinds of `system` records that hold nothing to remember.
pub(super) const SYSTEM_BOOKKEEPING: &[&str] = &[
    "agents_killed",
    "api_error",
    "api_metrics",
    "api_refusal",
    "bridge_status",
    "error",
    "file_snapshot",
    "informational",
    "local_command",
    "memory_saved",
    "microcompact_boundary",
    "model_refusal_fallback",
    "permission_retry",
    "scheduled_task_fire",
    "session_start",
    "stop_hook_summary",
    "turn_duration",
];
