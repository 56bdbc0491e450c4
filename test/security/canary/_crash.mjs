/** Loaded into a daemon with `node --import`: makes it crash, as by a bug, when it is sent SIGUSR2. */
process.on('SIGUSR2', () => {
  throw new Error('a crash of the test')
})
