import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** The addresses of each name in hosts(5); names are in lower case. */
export type HostAddresses = ReadonlyMap<string, readonly string[]>

/** The settings of resolv.conf(5) that c-ares does not apply to single queries. */
export interface SearchSettings {
  /** Domains that are appended to short names. */
  domains: readonly string[]
  /** A name with fewer dots is tried in the domains first. */
  minDots: number
}

export const hostsFile = (path = '/etc/hosts'): (() => HostAddresses) => parsedFile(path, parseHosts)

export const searchFile = (path = '/etc/resolv.conf'): (() => SearchSettings) => parsedFile(path, parseSearch)

/** Reads and parses the file, again whenever it has changed. A file that cannot be read counts as empty. */
function parsedFile<T>(path: string, parse: (text: string) => T): () => T {
  let known: { version: string; value: T } | null = null
  return () => {
    const version = versionOf(path)
    if (known?.version !== version) known = { version, value: parse(textOf(path)) }
    return known.value
  }
}

function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'absent' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function parseHosts(text: string): HostAddresses {
  const hosts = new Map<string, string[]>()
  for (const [address = '', ...names] of fieldsOf(text)) {
    if (isIP(address) === 0) continue
    for (const name of names.map((each) => each.toLowerCase()))
      hosts.set(name, [...new Set([...(hosts.get(name) ?? []), address])])
  }
  return hosts
}

const DEFAULT_MIN_DOTS = 1
const MAX_SEARCH_DOMAINS = 6

/** The last `search` or `domain` line counts. */
function parseSearch(text: string): SearchSettings {
  const lines = fieldsOf(text)
  const domains = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')?.slice(1) ?? []
  const options = lines.filter(([keyword]) => keyword === 'options').flat()
  const minDots = options.findLast((option) => /^ndots:\d+$/.test(option))?.slice('ndots:'.length)
  return {
    domains: domains
      .map((domain) => domain.replace(/\.$/, ''))
      .filter(Boolean)
      .slice(0, MAX_SEARCH_DOMAINS),
    minDots: minDots === undefined ? DEFAULT_MIN_DOTS : Number(minDots),
  }
}

/** The words of each line, without comments. */
const fieldsOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter(Boolean),
  )
