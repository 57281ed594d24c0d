import type { Caller } from '../../src/core/caller.ts'
import { ApiError } from '../../src/core/errors.ts'
import { disconnect, disconnectExtension } from '../../src/api/rc/disconnect.ts'
import { cancel } from '../../src/api/sms/cancel.ts'
import { send } from '../../src/api/sms/send.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import type { Gateway } from '../../src/messages/gateway.ts'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import type { Boot } from './boot.ts'
import type { Random } from './random.ts'
import type { MessagePlan } from './scenario.ts'
import type { Timeline } from './timeline.ts'
import type { Checker } from './checker.ts'

export const tenantOf = (index: number): string => `tenant_${index}`
/** The picture that the tenant has uploaded. */
export const mediaOf = (index: number): string => `media_${index}`
const callerOf = (index: number): Caller => ({ tenantId: tenantOf(index), appId: `app_${index}` })

const TRY_AGAIN_MS = 1000
/** A request gets no answer if its process dies, because its connection is reset. */
const PATIENCE_MS = 20_000

/** All clients of the gateway: applications, the operator, the provider's webhooks. */
export class Clients {
  readonly acknowledged = new Set<string>()
  /** Provider ids of inbound messages that were answered with 200. */
  readonly delivered = new Set<string>()
  /** The number of requests that are not answered yet. */
  open = 0
  readonly #keys = new Map<string, string>()

  constructor(
    readonly timeline: Timeline,
    readonly random: Random,
    readonly checker: Checker,
    readonly boot: () => Boot | null,
  ) {}

  /** Sends a message. Without an answer, most requests are repeated. */
  send(plan: MessagePlan, delayMs: number): void {
    const { tenant, from, to, text, withMedia, key, cancelAfterMs } = plan
    const media = withMedia ? { mediaIds: [mediaOf(tenant)] } : {}
    const body = { from, to, body: text, userId: null, ...media }
    this.#ask(
      delayMs,
      (gateway) => send(gateway, callerOf(tenant), body, key),
      (answer) => {
        if (answer.ok) this.#acknowledge(plan, answer.value.messageId)
        else if (!(answer.error instanceof ApiError) && this.random.chance(key === null ? 0.5 : 0.9))
          this.send(plan, TRY_AGAIN_MS)
        if (answer.ok && cancelAfterMs !== null) this.#cancel(tenant, answer.value.messageId, cancelAfterMs)
      },
    )
  }

  suspend(tenant: number, forMs: number): void {
    const set = (status: 'suspended' | 'active', delayMs: number): void =>
      this.#ask(
        delayMs,
        (gateway) => setTenantStatus(gateway, { tenantId: tenantOf(tenant), status }),
        (answer) => {
          if (!answer.ok) set(status, TRY_AGAIN_MS)
          else if (status === 'suspended') set('active', forMs)
        },
      )
    set('suspended', 0)
  }

  /** Null: the whole tenant. */
  disconnect(tenant: number, extensionId: string | null): void {
    this.#ask(
      0,
      (gateway) =>
        extensionId === null
          ? disconnect(gateway, callerOf(tenant))
          : disconnectExtension(gateway, callerOf(tenant), extensionId),
      () => undefined,
    )
  }

  /** Posts the provider's event of an inbound message `times` times, or until it is answered. */
  inbound(providerMessageId: string, delayMs: number, times: number): void {
    const sms = {
      tenantId: tenantOf(0),
      extensionId: '101',
      providerMessageId,
      from: '+15559990001',
      to: '+15550000001',
      text: 'Hello',
    }
    this.#ask(
      delayMs,
      (gateway) => storeInbound(gateway, sms),
      (answer) => {
        if (answer.ok) this.delivered.add(providerMessageId)
        if (!answer.ok || times > 1) this.inbound(providerMessageId, this.random.ms(0, TRY_AGAIN_MS), times - 1)
      },
    )
  }

  #acknowledge({ tenant, key }: MessagePlan, messageId: string): void {
    this.checker.log(`202 for ${messageId}`)
    if (!this.checker.messages.has(messageId)) this.checker.violated(`${messageId} was acknowledged before its commit`)
    this.acknowledged.add(messageId)
    this.checker.order.acknowledged(messageId)
    if (key === null) return
    const name = `${tenant}/${key}`
    const first = this.#keys.get(name) ?? messageId
    if (first !== messageId)
      this.checker.violated(`the same Idempotency-Key was answered with ${first} and ${messageId}`)
    this.#keys.set(name, messageId)
  }

  #cancel(tenant: number, messageId: string, delayMs: number): void {
    this.#ask(
      delayMs,
      (gateway) => cancel(gateway, callerOf(tenant), messageId),
      (answer) => {
        if (!answer.ok) return
        this.checker.log(`cancelled ${messageId}`)
        this.checker.cancelled.add(messageId)
      },
    )
  }

  /** Sends a request as soon as a process listens. A missing answer counts as a failure. */
  #ask<T>(
    delayMs: number,
    request: (gateway: Gateway) => Promise<T>,
    answered: (answer: { ok: true; value: T } | { ok: false; error: unknown }) => void,
  ): void {
    this.open++
    const { timeline } = this
    const attempt = (): void => {
      const boot = this.boot()
      if (boot === null || !boot.ready || boot.pausedUntil > timeline.now)
        return void timeline.after(null, TRY_AGAIN_MS, attempt)
      let over = false
      const end = (answer: { ok: true; value: T } | { ok: false; error: unknown }): void => {
        if (over) return
        over = true
        this.open--
        answered(answer)
      }
      request(boot.gateway).then(
        (value) => end({ ok: true, value }),
        (error: unknown) => end({ ok: false, error }),
      )
      const checkAlive = (): void => {
        if (over) return
        if (boot.alive) return void timeline.after(null, PATIENCE_MS, checkAlive)
        end({ ok: false, error: new Error('The connection was reset') })
      }
      timeline.after(null, PATIENCE_MS, checkAlive)
    }
    timeline.after(null, delayMs, attempt)
  }
}
