/** Loaded into a daemon with `node --import`: crashes it on SIGUSR2, like a bug. */
process.on('SIGUSR2', () => {
  throw new Error('a crash of the test')
})
