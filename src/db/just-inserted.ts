/**
 * The messages that the statement before has inserted, when it inserted messages: their rowids go on from the highest
 * one without a gap (with AUTOINCREMENT a row that is skipped would leave one), and `changes()` does not count what
 * triggers do. What hangs on them need not be handed over again.
 */
export const JUST_INSERTED = 'messages.seq > (SELECT max(seq) FROM messages) - changes()'
