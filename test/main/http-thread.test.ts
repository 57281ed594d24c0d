import { expect, test } from 'bun:test'
import { readFileSync, readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/world.ts'
import { connectedServer } from './connected-server.ts'

/** Names of a process's threads with their nice values (proc(5): the 19th field of `stat`, the 17th behind the name). */
function nicenessOf(pid: number): { name: string; nice: number }[] {
  const stats = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'))
  return stats.map((stat) => {
    const end = stat.lastIndexOf(')')
    return { name: stat.slice(stat.indexOf('(') + 1, end), nice: Number(stat.slice(end + 2).split(' ')[16]) }
  })
}

test.skipIf(process.platform !== 'linux')(
  'the thread that calls the provider steps back behind the others, once it is there',
  async () => {
    using folder = temporaryFolder()
    const { simulator, server } = await connectedServer(folder.database)
    await using _ = server
    try {
      const { pid } = server.child
      // Whoever runs the tests may have stepped back already.
      const own = getPriority()
      const stepped = (): { name: string; nice: number }[] => nicenessOf(pid).filter(({ nice }) => nice !== own)
      await until(() => stepped().length > 0, 20_000)
      expect(stepped()).toEqual([{ name: 'HTTP Client', nice: Math.min(own + 5, 19) }])
    } finally {
      await simulator.stop()
    }
  },
  60_000,
)
