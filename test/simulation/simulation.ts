import type { OutboundSms } from '../../src/provider/outbound-sms.ts'
import { Clients } from './clients.ts'
import type { Disk, Statement } from './disk.ts'
import { type Boot, startBoot } from './boot.ts'
import { ModelProvider } from './model-provider.ts'
import { type ProviderLink, orphan, providerPort } from './simulated-provider-port.ts'
import { type Random, createRandom } from './random.ts'
import {
  type ExtensionPlan,
  type Fault,
  type Profile,
  type Scenario,
  MIXED,
  RECIPIENT,
  createScenario,
} from './scenario.ts'
import { type SimulationStage, setUp } from './stage.ts'
import { Timeline, valueOf } from './timeline.ts'
import { FairnessChecker, type FairnessLimits } from './fairness-checker.ts'
import { RateWindowChecker } from './rate-window-checker.ts'
import { Checker } from './checker.ts'

export interface SeedResult {
  seed: number
  /** The first violated guarantee, or null. */
  violation: string | null
  /** The steps; empty unless requested. */
  log: string[]
  steps: number
  simulatedMs: number
  /** A fingerprint of the run. The same seed has the same fingerprint. */
  fingerprint: string
}

/** Runs one seed. Call it outside promises, because it runs them itself. */
export function runSeed(
  stage: SimulationStage,
  seed: number,
  options: { profile?: Profile; logging?: boolean } = {},
): SeedResult {
  return new Simulation(stage, seed, options.profile ?? MIXED, options.logging ?? false).run()
}

const MINUTE_MS = 60_000
/** All messages must end within this time after the last fault. */
const REST_WITHIN_MS = 25 * MINUTE_MS
/** The time per message at the lowest limit of one message per minute, including its call. */
const SLOWEST_MS = 75_000
/** The gateway undoes a refused write within this time. */
const DISK_RECOVERY_MS = 2000
const QUIET = { ok: 1 }

const limitsOf = (scenario: Scenario): FairnessLimits => ({
  ...scenario,
  extensionOf: (number) => scenario.extensions.find(({ numbers }) => numbers.includes(number))?.extensionId ?? '',
})

const isRecipient = ({ extensionId }: ExtensionPlan): boolean => extensionId === RECIPIENT

class Simulation {
  readonly random: Random
  readonly timeline: Timeline
  readonly scenario: Scenario
  readonly disk: Disk
  readonly provider: ModelProvider
  readonly checker: Checker
  readonly clients: Clients
  readonly rateWindows: RateWindowChecker
  readonly link: ProviderLink
  readonly lines: string[] = []
  boot: Boot | null = null
  wallOffset = 0
  setBack = false
  suspendedUntil = 0
  quietAt = Infinity
  /** Faults have ended. */
  faultsEnded = false
  /** The time of the next start. */
  upAt = 0
  /** The stored pauses after a 429, by extension: the end in true time, and the clock's error at the write. */
  readonly pauses = new Map<string, { until: number; offset: number }>()

  constructor(
    readonly stage: SimulationStage,
    readonly seed: number,
    readonly profile: Profile,
    readonly logging: boolean,
  ) {
    this.random = createRandom(~seed)
    this.timeline = new Timeline(this.random)
    this.scenario = createScenario(seed, profile)
    this.disk = {
      database: stage.database,
      fullUntil: 0,
      failsAfterCommit: false,
      committed: (statements) => this.#committed(statements),
    }
    const numbers = new Map(this.scenario.extensions.map((extension) => [extension.extensionId, extension.numbers]))
    this.provider = new ModelProvider(this.timeline, this.random, numbers, this.scenario.queueNumbers)
    const log = logging ? (text: string): void => this.#log(text) : (): void => {}
    this.checker = new Checker(this.disk, this.provider, log)
    this.provider.violated = (text) => this.checker.violated(text)
    this.provider.accepted = (messageId) => this.checker.order.accepted(messageId)
    if (profile.isFair === true)
      this.checker.fairness = new FairnessChecker(limitsOf(this.scenario), this.provider.violated)
    this.rateWindows = new RateWindowChecker(this.scenario)
    this.clients = new Clients(this.timeline, this.random, this.checker, () => this.boot)
    this.link = {
      timeline: this.timeline,
      random: this.random,
      provider: this.provider,
      attemptOf: () => Promise.reject(new Error('Each boot has its own')),
      fates: () => (this.faultsEnded ? QUIET : this.scenario.fates),
      lateMs: { settle: 29_900, settle5xx: 2900 },
      timeoutMs: 15_000,
      skewMs: () => null,
      lagMs: () => (this.wallOffset < 30_000 ? 0 : this.wallOffset),
      log,
      violated: (text) => this.checker.violated(text),
    }
  }

  run(): SeedResult {
    const start = this.timeline.now
    setUp(this.stage, this.scenario, this.provider, Math.floor(start))
    this.#start()
    for (const plan of this.scenario.messages) this.clients.send(plan, plan.afterMs)
    this.#runEvents(start)
    if (this.checker.violation === null) this.#finish()
    const { steps, now } = this.timeline
    const states = [...this.checker.messages.values()].map(({ id, status, rcMessageId, error }) => [
      id,
      status,
      rcMessageId,
      error,
    ])
    return {
      seed: this.seed,
      violation: this.checker.violation,
      log: this.lines,
      steps,
      simulatedMs: now - start,
      fingerprint: JSON.stringify([steps, now, this.provider.records.length, states]),
    }
  }

  /** Runs until all messages have ended after the faults, or until a violation. */
  #runEvents(start: number): void {
    const faults = [...this.scenario.faults]
    const activeEnd = start + this.scenario.activeMs
    while (this.checker.violation === null) {
      const { now, steps } = this.timeline
      const due = this.faultsEnded ? -1 : faults.findIndex((fault) => steps >= fault.step || now >= start + fault.atMs)
      for (const fault of due < 0 ? [] : faults.splice(due, 1)) this.#applyFault(fault)
      if (!this.faultsEnded && now >= activeEnd) this.#endFaults()
      if (now >= this.quietAt && this.clients.open === 0 && this.boot?.ready === true && this.checker.isDone()) return
      if (now >= this.#deadline()) return
      this.timeline.step(
        this.faultsEnded ? this.#deadline() : Math.min(activeEnd, ...faults.map((fault) => start + fault.atMs)),
      )
    }
  }

  /** The time by which all messages must have ended. Infinity during faults. */
  #deadline(): number {
    if (!this.faultsEnded) return Infinity
    const restMs = REST_WITHIN_MS + this.scenario.messages.length * SLOWEST_MS
    return Math.max(this.quietAt, this.provider.silentUntil, this.upAt, this.boot?.pausedUntil ?? 0) + restMs
  }

  /** Ends the faults. Faults with a duration last until their end. */
  #endFaults(): void {
    const { provider, disk, timeline } = this
    this.faultsEnded = true
    disk.failsAfterCommit = false
    this.quietAt = Math.max(
      timeline.now,
      provider.silentUntil,
      provider.stormUntil,
      provider.storeDownUntil,
      provider.refreshDownUntil,
      disk.fullUntil,
      this.suspendedUntil,
      this.upAt,
      this.boot?.pausedUntil ?? 0,
    )
    if (this.logging) this.#log(`faults end, all quiet in ${(this.quietAt - timeline.now) / 1000} s`)
  }

  /** Kills the process, lets the provider handle open requests, and checks the final state. */
  #finish(): void {
    if (this.boot !== null) this.#kill(this.boot)
    const until = this.timeline.now + MINUTE_MS
    while (this.timeline.step(until));
    this.checker.checkEnd(this.clients.acknowledged)
    this.#checkInbound()
  }

  #checkInbound(): void {
    const sql = `SELECT rc_message_id AS id, count(*) AS copies FROM messages WHERE direction = 'inbound' GROUP BY rc_message_id`
    const copies = new Map(
      valueOf(this.disk.database.execute(sql)).rows.map((row) => [String(row['id']), Number(row['copies'])]),
    )
    for (const id of this.clients.delivered)
      if (copies.get(id) !== 1) this.checker.violated(`inbound ${id} is stored ${copies.get(id) ?? 0} times`)
  }

  #start(): void {
    const boot = startBoot(
      {
        timeline: this.timeline,
        random: this.random,
        disk: this.disk,
        config: {
          ...this.stage.config,
          fromLimitPerMinute: this.scenario.fromPerMinute,
          extensionLimitPerMinute: this.scenario.extensionPerMinute,
        },
        wallOffset: () => this.wallOffset,
        portFor: (own) =>
          providerPort(
            { ...this.link, skewMs: () => own.offset, attemptOf: (message) => this.#attemptOf(own, message) },
            own,
          ),
      },
      (own) => this.#restart(own, this.random.ms(500, 3000)),
    )
    this.boot = boot
    this.checker.order.currentBoot = boot.bootId
    for (const [extensionId, { until, offset }] of this.pauses) {
      if (offset !== boot.offset) continue
      // After the clock was set back, pauses look too long, so the gateway shortens them.
      boot.penalties.set(`medium:${extensionId}`, this.setBack ? Math.min(until, this.timeline.now + MINUTE_MS) : until)
    }
    boot.gateway.hub.subscribe((event) => this.checker.published(event))
    this.link.log(`start ${boot.bootId}`)
  }

  async #attemptOf(boot: Boot, message: OutboundSms): ReturnType<ProviderLink['attemptOf']> {
    const attempt = await this.checker.attemptOf(message, boot.bootId)
    const excess = attempt.isNew
      ? this.rateWindows.note(boot, message.from, attempt.extensionId, attempt.startedAt)
      : null
    if (excess !== null) this.checker.violated(excess)
    if (this.checker.cancelled.has(attempt.messageId))
      this.checker.violated(`${attempt.messageId} was cancelled and is being sent`)
    return attempt
  }

  #restart(boot: Boot, downMs: number): void {
    if (!boot.alive) return
    this.#kill(boot)
    this.upAt = this.timeline.now + downMs
    this.timeline.after(null, downMs, () => this.#start())
  }

  #kill(boot: Boot): void {
    boot.alive = false
    this.boot = null
    this.link.log(`end of ${boot.bootId}`)
    orphan(this.link, boot)
    const { atCrash } = this.stage.weakening
    if (atCrash !== undefined) {
      valueOf(this.disk.database.batch(atCrash(boot.bootId)))
      this.checker.accept()
    }
    if (this.profile.lateWrites === true) for (const perform of boot.gate.unfinished()) this.#performLate(perform)
  }

  #performLate(perform: () => void): void {
    this.clients.open++
    this.timeline.after(null, this.random.ms(100, 70_000), () => {
      this.clients.open--
      perform()
    })
  }

  #applyFault({ kind, ms }: Fault): void {
    const { timeline, disk, provider, clients, boot } = this
    const until = timeline.now + ms
    this.link.log(`fault ${kind} ${ms / 1000} s`)
    switch (kind) {
      case 'crash':
        if (boot !== null) this.#restart(boot, ms)
        return
      case 'crash_writing':
        if (boot !== null) this.#crashWriting(boot, ms)
        return
      case 'stop':
        if (boot !== null) this.#stop(boot, ms)
        return
      case 'pause':
        if (boot !== null) boot.pausedUntil = until
        return
      case 'clock':
        this.wallOffset += ms
        this.setBack ||= ms < 0
        return
      case 'storm':
        provider.stormUntil = until
        return
      case 'store_down':
        provider.storeDownUntil = until
        return
      case 'refresh_down':
        provider.refreshDownUntil = until
        provider.expireAccessTokens()
        return
      case 'tokens_expire':
        return provider.expireAccessTokens()
      case 'disk_full':
        disk.fullUntil = until
        this.checker.order.diskFaultUntil = until + DISK_RECOVERY_MS
        return
      case 'write_unclear':
        disk.failsAfterCommit = true
        this.checker.order.diskFaultUntil = Infinity
        return
      case 'suspend':
        this.suspendedUntil = Math.max(this.suspendedUntil, until + 5000)
        return clients.suspend(0, ms)
      case 'disconnect':
        return clients.disconnect(0, this.scenario.extensions.some(isRecipient) ? RECIPIENT : null)
      case 'inbound':
        return clients.inbound(`in-${this.random.int(1, 3)}`, this.random.ms(0, ms), 2)
    }
  }

  /** Crashes while a write of the send engine is under way, or done and not reported. */
  #crashWriting(boot: Boot, downMs: number): void {
    let left = this.random.int(1, 6)
    boot.gate.onWrite = (statements) => {
      if (!statements.some(({ sql }) => /send_attempts/.test(sql)) || --left > 0) return
      boot.gate.onWrite = null
      this.timeline.after(null, this.random.ms(0, 3), () => this.#restart(boot, downMs))
    }
  }

  /** Stops as after SIGTERM: accepts no requests, and lets running work end within 7 s. */
  #stop(boot: Boot, downMs: number): void {
    boot.ready = false
    const end = (): void => this.#restart(boot, downMs)
    Promise.all([boot.gateway.sending.stop(), boot.gateway.jobs.stop()]).then(end, end)
    this.timeline.after(boot, 7000, end)
  }

  #committed(statements: readonly Statement[]): void {
    for (const { sql, args } of statements) {
      if (!sql.startsWith('update "extensions" set "paused_until"') || !Array.isArray(args)) continue
      const until = Number(args[0]) - this.wallOffset
      const extensionId = String(args[1])
      this.pauses.set(extensionId, {
        until: Math.max(until, this.pauses.get(extensionId)?.until ?? 0),
        offset: this.wallOffset,
      })
    }
    this.checker.committed(statements, this.timeline.now)
  }

  #log(text: string): void {
    this.lines.push(
      `${String(this.timeline.steps).padStart(5)} ${new Date(this.timeline.now).toISOString().slice(11, 23)} ${text}`,
    )
  }
}
