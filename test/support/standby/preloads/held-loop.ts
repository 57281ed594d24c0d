// A preload for a gateway whose event loop is held for SGW_HELD_MS at the signal SIGUSR2, as by a bug that never ends or a query that takes long.

if (Bun.isMainThread) process.on('SIGUSR2', () => Bun.sleepSync(Number(process.env['SGW_HELD_MS'])))
