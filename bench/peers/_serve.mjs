/**
 * Serves a peer's measurements from its own process, like the bare composition. `flow` runs a whole flow of
 * both sides.
 */
export function serve(flow) {
  process.on('message', async ({ concurrency, seconds }) => {
    const before = process.cpuUsage()
    const start = performance.now()
    const times = []
    const work = async () => {
      for (let from = performance.now(); from < start + seconds * 1_000; from = performance.now()) {
        await flow()
        times.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    const { user, system } = process.cpuUsage(before)
    process.send({
      times,
      cpuMs: (user + system) / 1_000 / times.length,
      perSecond: (times.length * 1_000) / (performance.now() - start),
    })
  })
  process.send({ ready: true })
}
