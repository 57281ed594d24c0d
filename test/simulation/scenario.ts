import { type Random, createRandom } from './random.ts'
import type { Fates } from './simulated-provider-port.ts'

/** The events of a seed. Times are in milliseconds. */
export interface Scenario {
  extensions: ExtensionPlan[]
  /** Of the extensions' numbers, those that belong to a call queue. */
  queueNumbers: string[]
  tenants: number
  fromPerMinute: number
  extensionPerMinute: number
  fates: Fates
  messages: MessagePlan[]
  faults: Fault[]
  /** The end of faults and requests. All messages must end after it. */
  activeMs: number
}

export interface ExtensionPlan {
  extensionId: string
  numbers: string[]
  /** Numbers that the gateway does not know yet. */
  unread: boolean
}

export interface MessagePlan {
  afterMs: number
  tenant: number
  from: string
  to: string
  text: string
  withMedia: boolean
  key: string | null
  /** The time between the answer and the cancellation. Null: no cancellation. */
  cancelAfterMs: number | null
}

/** A fault begins at the step or at the time, whichever comes first. */
export interface Fault {
  step: number
  atMs: number
  kind: FaultKind
  /** Its duration, or the distance of a clock jump. */
  ms: number
}

export type FaultKind =
  | 'crash'
  | 'crash_writing'
  | 'stop'
  | 'pause'
  | 'clock'
  | 'storm'
  | 'store_down'
  | 'refresh_down'
  | 'tokens_expire'
  | 'disk_full'
  | 'write_unclear'
  | 'suspend'
  | 'disconnect'
  | 'inbound'

export interface Profile {
  faults: Partial<Record<FaultKind, number>>
  fates?: Fates
  messages?: [number, number]
  activeMs?: [number, number]
  /** No faults, and many messages wait for limits. Each message must begin within its fair time. */
  isFair?: boolean
  /** The numbers of queues have a second recipient, who sends for them until only that extension is disconnected. */
  isShared?: boolean
  /** Messages come in threes, of which the first is often cancelled just before it begins (`withCancelled`). */
  isCancelled?: boolean
  /** Writes of a dead process may be performed later, as with a database behind a network. */
  lateWrites?: boolean
}

/** The usual mix of faults. */
export const MIXED: Profile = {
  faults: {
    crash: 25,
    crash_writing: 15,
    stop: 4,
    pause: 10,
    clock: 10,
    storm: 6,
    store_down: 8,
    refresh_down: 4,
    tokens_expire: 6,
    disk_full: 8,
    write_unclear: 8,
    suspend: 4,
    disconnect: 1,
    inbound: 4,
  },
}

/** The usual mix, with many messages at once. */
const BUSY: Profile = { ...MIXED, messages: [8, 30], activeMs: [20_000, 300_000] }

/** Two recipients of each queue, one of whom is often disconnected. */
const SHARED: Profile = { ...MIXED, isShared: true, faults: { ...MIXED.faults, disconnect: 20 } }

/** The usual mix, with messages that are cancelled just before they begin. */
const CANCELLED: Profile = { ...MIXED, isCancelled: true, messages: [3, 12] }

/** Many lines of few extensions with low limits. */
export const FAIR: Profile = {
  isFair: true,
  faults: {},
  fates: { ok: 9, slow: 1 },
  messages: [10, 60],
  activeMs: [5000, 120_000],
}

/** Of eight seeds, four have the usual mix, one is busy, one tests fairness, one has queues with two recipients, and one cancels a lot. */
export const profileOf = (seed: number): Profile => [BUSY, FAIR, SHARED, CANCELLED][seed % 8] ?? MIXED

const CALM: Fates = { ok: 80, slow: 5, lost: 3, reset: 3, late_timeout: 3, dropped_timeout: 2, limited: 2, rejected: 2 }
const ROUGH: Fates = {
  ok: 20,
  slow: 6,
  marked_failed: 2,
  lost: 8,
  reset: 5,
  bad_gateway: 5,
  unreadable: 3,
  late_timeout: 8,
  late_reset: 8,
  late_bad_gateway: 5,
  dropped_timeout: 5,
  dropped_reset: 5,
  dropped_bad_gateway: 5,
  unreachable: 4,
  unavailable: 4,
  turned_away: 4,
  limited: 8,
  rejected: 4,
}
const HOUR_MS = 3_600_000
/** A separate random stream, so that the draws of other scenarios do not change. */
const TRUNCATED_TEXTS = 0x5ea1
const PICTURES = 0x1a3c_77d2
const CANCELLATIONS = 0x41b7_20ec
/** Long enough that a record with only this text can be a truncated one. */
const BEGINNING = 'The beginning of several texts. '.repeat(4)

export function createScenario(seed: number, profile: Profile): Scenario {
  const random = createRandom(seed)
  const extensions = profile.isFair === true ? fairExtensions(random) : drawExtensions(random)
  const [shortest, longest] = profile.activeMs ?? [5000, 300_000]
  const activeMs = random.spread(shortest, longest)
  const tenants = random.chance(0.15) ? 2 : 1
  const queueNumbers = drawQueueNumbers(createRandom(seed + QUEUES), extensions)
  return {
    extensions: profile.isShared === true ? withRecipient(extensions, queueNumbers) : extensions,
    queueNumbers,
    tenants,
    fromPerMinute: random.chance(0.3) ? random.int(1, 3) : 40,
    extensionPerMinute: profile.isFair === true || random.chance(0.15) ? random.int(1, 4) : 40,
    fates: profile.fates ?? (random.chance(0.5) ? CALM : ROUGH),
    messages: withPictures(
      createRandom(seed + PICTURES),
      withTruncatedTexts(
        createRandom(seed + TRUNCATED_TEXTS),
        withCancelled(
          createRandom(seed + CANCELLATIONS),
          profile,
          drawMessages(random, profile, extensions, tenants, activeMs),
        ),
      ),
    ),
    faults: drawFaults(random, profile, activeMs),
    activeMs,
  }
}

/** A random sequence of its own leaves the others of a seed as they are. */
const QUEUES = 0x2f3d_91c5

const drawQueueNumbers = (random: Random, extensions: readonly ExtensionPlan[]): string[] =>
  extensions.flatMap(({ numbers }) => numbers).filter(() => random.chance(1 / 3))

/** The second recipient of the queues. Its id is the lower one, so it sends. */
export const RECIPIENT = '099'

const withRecipient = (extensions: ExtensionPlan[], queueNumbers: string[]): ExtensionPlan[] =>
  queueNumbers.length === 0
    ? extensions
    : [...extensions, { extensionId: RECIPIENT, numbers: queueNumbers, unread: extensions[0]?.unread ?? false }]

function fairExtensions(random: Random): ExtensionPlan[] {
  return Array.from({ length: random.int(1, 2) }, (_, index) => ({
    extensionId: String(101 + index),
    numbers: Array.from({ length: random.int(1, 5) }, (__, number) => `+1555000${index}00${number}`),
    unread: false,
  }))
}

function drawExtensions(random: Random): ExtensionPlan[] {
  const numbers = random.chance(0.6) ? ['+15550000001'] : ['+15550000001', '+15550000002']
  const split = numbers.length === 2 && random.chance(0.6)
  const unread = random.chance(0.1)
  if (!split) return [{ extensionId: '101', numbers, unread }]
  return numbers.map((number, index) => ({ extensionId: String(101 + index), numbers: [number], unread }))
}

function drawMessages(
  random: Random,
  profile: Profile,
  extensions: readonly ExtensionPlan[],
  tenants: number,
  activeMs: number,
): MessagePlan[] {
  const [low, high] = profile.messages ?? [1, 6]
  const sameText = random.chance(0.45)
  const togetherMs = random.chance(0.5) ? 50 : activeMs
  const numbers = extensions.flatMap((extension) => extension.numbers)
  return Array.from({ length: random.int(low, high) }, (_, index) => ({
    afterMs: random.ms(0, togetherMs),
    tenant: random.int(0, tenants - 1),
    from: random.pick(numbers),
    to:
      profile.isFair === true ? `+1555111000${random.int(1, 9)}` : random.chance(0.8) ? '+15551110001' : '+15551110002',
    text: sameText || random.chance(0.3) ? 'The same' : `Text ${index}`,
    withMedia: false,
    key: random.chance(0.3) ? `key-${random.chance(0.2) ? 0 : index}` : null,
    cancelAfterMs: random.chance(0.08) ? random.spread(1, 5000) : null,
  }))
}

/**
 * Each three messages come together, from one number: the first is cancelled at about the time at which its attempt is opened, the second has
 * the same recipient, and the third another one.
 */
function withCancelled(random: Random, profile: Profile, messages: MessagePlan[]): MessagePlan[] {
  if (profile.isCancelled !== true) return messages
  return messages.map((message, index) => {
    const { afterMs, from, to } = messages[index - (index % 3)] ?? message
    if (index % 3 === 0) return { ...message, withMedia: true, cancelAfterMs: random.ms(1, 10) }
    return { ...message, afterMs: afterMs + random.ms(1, 15), from, to: index % 3 === 1 ? to : '+15551110003' }
  })
}

/** Makes some texts the beginning of others, because the provider's store may truncate long texts. */
function withTruncatedTexts(random: Random, messages: MessagePlan[]): MessagePlan[] {
  if (!random.chance(0.15)) return messages
  return messages.map((message) => {
    const text = BEGINNING + ['', 'One goes on.', 'One goes on. And on.'][random.int(0, 2)]
    return random.chance(0.7) ? { ...message, text } : message
  })
}

/** A fifth of the messages carries media, many of these without words. In a quarter of the scenarios it is every second one. */
function withPictures(random: Random, messages: MessagePlan[]): MessagePlan[] {
  const share = random.chance(0.25) ? 0.5 : 0.1
  return messages.map((message) => {
    if (!random.chance(share)) return message
    return { ...message, withMedia: true, text: random.chance(0.5) ? '' : message.text }
  })
}

function drawFaults(random: Random, profile: Profile, activeMs: number): Fault[] {
  if (Object.keys(profile.faults).length === 0) return []
  const count = random.chance(0.1) ? 0 : random.int(1, 6)
  return Array.from({ length: count }, () => {
    const kind = random.weighted(profile.faults)
    return { kind, step: Math.floor(random.spread(1, 500)), atMs: random.ms(0, activeMs), ms: lengthOf(random, kind) }
  }).toSorted((one, other) => one.step - other.step)
}

function lengthOf(random: Random, kind: FaultKind): number {
  switch (kind) {
    case 'crash':
    case 'crash_writing':
    case 'stop':
      return random.chance(0.1) ? random.ms(60_000, 1_200_000) : random.spread(10, 60_000)
    case 'pause':
      return random.chance(0.1) ? random.ms(60_000, 600_000) : random.spread(10, 60_000)
    case 'clock':
      return random.pick([HOUR_MS, -HOUR_MS, random.ms(-HOUR_MS, HOUR_MS), random.ms(-120_000, 120_000)])
    case 'store_down':
      return random.spread(5000, 1_100_000)
    default:
      return random.spread(100, 90_000)
  }
}
