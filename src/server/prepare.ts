import { errorName } from '../core/log.ts'
import type { Development } from './development/development.ts'
import type { DevelopmentFacts } from './greeting.ts'
import type { RunOptions } from './open-gateway.ts'
import type { RunningGateway } from './run.ts'

// What a start needs outside production, and what it prints for a person. Each part is loaded on demand, so production loads none.

/** Starts a gateway with the built-in simulator. */
export async function openDevelopment(options: RunOptions, isTest: boolean): Promise<Development> {
  const development = await import('./development/development.ts')
  return development.openDevelopment({ ...options, isTest })
}

/**
 * Prepares what a developer needs, and returns its part of the greeting; null if nothing is left to say. A stop in the meantime closes the
 * database, which is not an error here.
 */
export async function prepareDevelopment(
  running: RunningGateway,
  development: Development | null,
): Promise<DevelopmentFacts | null> {
  try {
    await logMessages(running)
    if (development === null) return await prepareRealProvider(running)
    await connectSimulator(development)
  } catch (error) {
    if (!running.gateway.lifecycle.draining) throw error
  }
  return null
}

/** Tells a person how to use a gateway whose provider is RingCentral itself. A production log must not contain sign-in links. */
export async function greet(running: RunningGateway, facts: DevelopmentFacts | null, terminal: boolean): Promise<void> {
  const { log, lifecycle } = running.gateway
  if (facts === null && !terminal) return log.info({}, AT_HOME)
  try {
    const { greetingOf } = await import('./greeting.ts')
    process.stdout.write(await greetingOf(running, facts))
  } catch (error) {
    if (!lifecycle.draining) log.error({ error: errorName(error) }, 'the greeting could not be written')
  }
}

const AT_HOME =
  'no PUBLIC_URL is set: this machine and PLAIN_HTTP_CIDRS may use plain HTTP; sgw console prints a link to the console, and sgw app rotate-key APP a key'

/** Connects the simulator, and prints what a developer needs. */
async function connectSimulator(development: Development): Promise<void> {
  const { url } = await development.connect()
  const { banner } = await import('./development/banner.ts')
  process.stdout.write(banner(development, url))
}

/** In development each message leaves lines in the log. */
async function logMessages({ gateway }: RunningGateway): Promise<void> {
  const lines = await import('./development/message-lines.ts')
  lines.logMessages(gateway)
}

/** In development with RingCentral itself: creates what a developer needs. */
async function prepareRealProvider(running: RunningGateway): Promise<DevelopmentFacts> {
  const real = await import('./development/real-provider.ts')
  return real.prepareRealProvider(running)
}
