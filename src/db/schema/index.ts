export * from './connections.ts'
export * from './jobs.ts'
export * from './messages.ts'
export * from './tenants.ts'
