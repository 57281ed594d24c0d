import start from '../../drizzle/0000_start.sql' with { type: 'text' }
import listBlocks from '../../drizzle/0001_list_blocks.sql' with { type: 'text' }
import webhookJobs from '../../drizzle/0002_webhook_jobs.sql' with { type: 'text' }
import firstAttempts from '../../drizzle/0003_first_attempts.sql' with { type: 'text' }
import conversations from '../../drizzle/0004_conversations.sql' with { type: 'text' }
import sending from '../../drizzle/0005_sending.sql' with { type: 'text' }
import listSegments from '../../drizzle/0006_list_segments.sql' with { type: 'text' }
import operator from '../../drizzle/0007_operator.sql' with { type: 'text' }
import afterSent from '../../drizzle/0008_after_sent.sql' with { type: 'text' }
import optOutsByNumber from '../../drizzle/0009_opt_outs_by_number.sql' with { type: 'text' }
import jobLoops from '../../drizzle/0010_job_loops.sql' with { type: 'text' }
import plainLists from '../../drizzle/0011_plain_lists.sql' with { type: 'text' }
import attemptsWithoutCalls from '../../drizzle/0012_attempts_without_calls.sql' with { type: 'text' }
import operatorSessions from '../../drizzle/0013_operator_sessions.sql' with { type: 'text' }
import webhookAttempts from '../../drizzle/0014_webhook_attempts.sql' with { type: 'text' }
import optOutsWithoutACount from '../../drizzle/0015_opt_outs_without_a_count.sql' with { type: 'text' }
import cancelledMessages from '../../drizzle/0016_cancelled_messages.sql' with { type: 'text' }
import listStates from '../../drizzle/0017_list_states.sql' with { type: 'text' }
import attachments from '../../drizzle/0018_attachments.sql' with { type: 'text' }
import histories from '../../drizzle/0019_histories.sql' with { type: 'text' }
import whoseMessages from '../../drizzle/0020_whose_messages.sql' with { type: 'text' }
import connectedByJwt from '../../drizzle/0021_connected_by_jwt.sql' with { type: 'text' }
import numbersOfSeveral from '../../drizzle/0022_numbers_of_several.sql' with { type: 'text' }
import extensionFacts from '../../drizzle/0023_extension_facts.sql' with { type: 'text' }
import media from '../../drizzle/0024_media.sql' with { type: 'text' }
import neverArrived from '../../drizzle/0025_never_arrived.sql' with { type: 'text' }
import sessionEnds from '../../drizzle/0026_session_ends.sql' with { type: 'text' }
import messageThreads from '../../drizzle/0027_message_threads.sql' with { type: 'text' }
import sentAgain from '../../drizzle/0028_sent_again.sql' with { type: 'text' }
import campaigns from '../../drizzle/0029_campaigns.sql' with { type: 'text' }
import consents from '../../drizzle/0030_consents.sql' with { type: 'text' }

/** All migrations in order, embedded so that a compiled executable has them. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0000_start', sql: start },
  { name: '0001_list_blocks', sql: listBlocks },
  { name: '0002_webhook_jobs', sql: webhookJobs },
  { name: '0003_first_attempts', sql: firstAttempts },
  { name: '0004_conversations', sql: conversations },
  { name: '0005_sending', sql: sending },
  { name: '0006_list_segments', sql: listSegments },
  { name: '0007_operator', sql: operator },
  { name: '0008_after_sent', sql: afterSent },
  { name: '0009_opt_outs_by_number', sql: optOutsByNumber },
  { name: '0010_job_loops', sql: jobLoops },
  { name: '0011_plain_lists', sql: plainLists },
  { name: '0012_attempts_without_calls', sql: attemptsWithoutCalls },
  { name: '0013_operator_sessions', sql: operatorSessions },
  { name: '0014_webhook_attempts', sql: webhookAttempts },
  { name: '0015_opt_outs_without_a_count', sql: optOutsWithoutACount },
  { name: '0016_cancelled_messages', sql: cancelledMessages },
  { name: '0017_list_states', sql: listStates },
  { name: '0018_attachments', sql: attachments },
  { name: '0019_histories', sql: histories },
  { name: '0020_whose_messages', sql: whoseMessages },
  { name: '0021_connected_by_jwt', sql: connectedByJwt },
  { name: '0022_numbers_of_several', sql: numbersOfSeveral },
  { name: '0023_extension_facts', sql: extensionFacts },
  { name: '0024_media', sql: media },
  { name: '0025_never_arrived', sql: neverArrived },
  { name: '0026_session_ends', sql: sessionEnds },
  { name: '0027_message_threads', sql: messageThreads },
  { name: '0028_sent_again', sql: sentAgain },
  { name: '0029_campaigns', sql: campaigns },
  { name: '0030_consents', sql: consents },
]

export interface Migration {
  name: string
  sql: string
}
