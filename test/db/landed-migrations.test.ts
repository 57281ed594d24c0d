import { expect, test } from 'bun:test'
import { sha256Hex } from '../../src/core/secrets.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'

/** SHA-256 of each migration that has landed, as databases store it. A new migration adds its line; no line ever changes. */
const LANDED: Readonly<Record<string, string>> = {
  '0000_start': 'b9d72c017a039462ff98c1a057875d08e175353da7dbde23a1995831d61ed6aa',
  '0001_list_blocks': 'f15f1575b54dc5353232e3f9b80acec843d9c97a3ee76f56cb2584dd996c706b',
  '0002_webhook_jobs': '6eb6da7b3d2184cd4399c5fddc3055fdaf55bf82b976fda8681c0e0c18f77b72',
  '0003_first_attempts': 'd1b874da83ff79038ba10b8ecb0b45fabb1c0584ca1b39bda382db40646563ca',
  '0004_conversations': '688484f0bc39b5ff2a7319c7fc1612f9351eb9e856038dd2900ae8dd8c822825',
  '0005_sending': '05c6e346c4c7d1860a0cb6204bcaeb9f6533e9b797fc1b22dcf8ce2780721c67',
  '0006_list_segments': '1eb21297eef0ee1bb744062b2707922a0dfbe22a82e1a2f1fcbf8d9b5fa6c7a9',
  '0007_operator': '3e8f1fe4c73bdfe382f592543c25d073bb5ad1a9ba1f848c4bf6c6cb209bc592',
  '0008_after_sent': 'd10919e5e3afe1aa85166650170177e54a2658db662fdb6279b20c66becc9e42',
  '0009_opt_outs_by_number': 'a39f2dddf6136f61152f6f9b03aa11b1a1f4ba8487f0e2181ef0a54dddf485a6',
  '0010_job_loops': 'e9110e52ce84344ed8c4ca2ad33668906fb4e52c4afa8be1e7fe87304d8a1116',
  '0011_plain_lists': '7d0c0c8ed97305a9d4552c9d70d9d0748c187749484e437acc7fec8cec7cc665',
  '0012_attempts_without_calls': '97cf13ccc8f6dd86a1c9cee3c41b452b822bbb5a8de72a0d8fa6949691a4e1d4',
  '0013_operator_sessions': '1e45f4bd5cb29557dfe2f029b3a2b5d93f2f40f9e5fd506d13663dcb6d24d41c',
  '0014_webhook_attempts': '21c09deaa27a446d9eef32b898be6991799fe0cce4b83a437fcd777a972ebf0f',
  '0015_opt_outs_without_a_count': '057b132f8c677fe2699cae2355b65728682699b40ec4f2730c812f469d70727d',
  '0016_cancelled_messages': '3a056bc93a9481160ce43bda19120220c4eb223c5fffe01fc3995c0d7f6e6e74',
  '0017_list_states': '692d65d1a233f6d0a359d7aab000755596ec72e8077e62bdb38776a5630a7a1c',
  '0018_attachments': '7d3ea94ed5b71d45d7855c5c0625a62af6d78d79f0767b355d25543d69816539',
  '0019_histories': 'ddd1687b0e1be46e1f10b0f6cd6846f3c398af6471301d7e3f6386879723c030',
  '0020_whose_messages': '7fe20084051bab5c182508a56662cee42f8446411d812088460ff09c3d0575e2',
  '0021_connected_by_jwt': '30b71005ca1409fc41ab3edda975e9c76434d400bb537fb54d00f38648b27f41',
  '0022_numbers_of_several': '63e567bdf26c2bdcaaaaa3e06293a45dcc3e951e2a5f8faf21acf0c3f633263e',
  '0023_extension_facts': '8ed086dd5cfa1d1e2f7b6c7a255d1c9874f90198e260866ffad06ca0172bb89c',
  '0024_media': 'cf5388aa7bb2284b6625be5cb7d96d713b6d9e89f96f62ab0b08f97d1b7c279c',
  '0025_never_arrived': '63dcf4bb379f4e82f657de86b8f8f717440c581990b361194f5cc2398c3c0979',
  '0026_session_ends': 'ad1ae775124d9c0a9e32d9ff2faf763fa78671d1261c0e6dc430d593335dfa99',
  '0027_message_threads': '5f43469c4988bd042a67a3018c3f7196f76f72fb8cde0e9777ee1cedf402af5b',
  '0028_sent_again': '906af961faec417f714ed0ad9ae8e3b13900337d0af001b3de79bd1f31171887',
  '0029_campaigns': 'be77c24fbbd56382b8acb6104bb2be3db37cf4c83493590151e21f38d6e0136c',
  '0030_consents': '06bb33929acaf008914b293492f0376a3b4f96b49567157462e4e2df90bdd99b',
}

test('no migration that has landed changes, because the databases that it has made could not be upgraded any more', () => {
  expect(Object.fromEntries(MIGRATIONS.map(({ name, sql }) => [name, sha256Hex(sql)]))).toEqual(LANDED)
})
