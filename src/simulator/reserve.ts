import { reserve } from './server.ts'
import type { Simulator, SimulatorOptions } from './simulator.ts'

/** A simulator whose address is known before its code is loaded. Requests wait until it has started. */
export interface ReservedSimulator {
  /** Without a slash at the end. */
  url: string
  start(options: Omit<SimulatorOptions, 'hostname' | 'port'>): Promise<Simulator>
  stop(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function reserveSimulator(): Promise<ReservedSimulator> {
  const listener = await reserve({ hostname: '127.0.0.1', port: 0 })
  let stop = async (): Promise<void> => listener.stop()
  return {
    url: listener.url,
    async start(options) {
      const { simulate } = await import('./simulator.ts')
      const simulator = simulate(listener, options)
      stop = () => simulator.stop()
      return simulator
    },
    stop: () => stop(),
  }
}
