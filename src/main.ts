#!/usr/bin/env bun
import { readFileSync } from 'node:fs'
import { exemptThisMachine } from './core/proxy.ts'
import { serve } from './server/serve.ts'

// Starts the server, as `sgw start` does: `bun src/main.ts [--test]`.
exemptThisMachine(process.env)
await serve({
  environment: { values: process.env, readFile: (path) => readFileSync(path, 'utf8') },
  terminal: process.stdout.isTTY,
  isTest: process.argv.includes('--test'),
  exit: (code) => process.exit(code),
})
