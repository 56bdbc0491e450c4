/** Time until the daemon answers, and its memory when idle. */
import { setTimeout as sleep } from 'node:timers/promises'
import { memory } from '../cli/daemon/launch.ts'
import { Daemon } from '../test/support/daemon.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'
import { percentile } from '../test/faults/_samples.ts'
import { meter, Used } from './flows/_setup.ts'
import type { Outcome, Scale } from './_scenarios.ts'

/** Starts daemons in new folders, and each a second time. Returns medians. */
export async function runDaemonStarts({ quick }: Scale): Promise<Outcome> {
  const [fresh, again]: { ms: number; cpuMs: number; megabytes: number }[][] = [[], []]
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    await using folder = await temporaryFolder()
    // The settings of `agent daemon start`.
    const env = {
      ...memory,
      AGENT_DATA_DIR: folder.path,
      AGENT_CONFIG_DIR: folder.path,
      DEFAULT_WALLET_ENABLED: 'false',
      NODE_OPTIONS: `--import=${meter}`,
    }
    for (const results of [fresh, again]) results!.push(await startOne(env))
  }
  const median = (name: string, results: typeof fresh) => {
    const of = (key: 'ms' | 'cpuMs' | 'megabytes') =>
      percentile(
        results!.map((each) => each[key]),
        0.5,
      )
    return { name, figures: { ms: of('ms'), cpuMs: of('cpuMs'), megabytes: of('megabytes') } }
  }
  const rows = [median('in an empty folder', fresh), median('in a folder that it knows', again)]
  return {
    tables: [{ title: 'Start of the daemon until it answers, and its memory twelve seconds later', rows }],
    failures: [],
  }
}

async function startOne(env: Record<string, string>) {
  const start = performance.now()
  await using daemon = await Daemon.start(env)
  const ms = performance.now() - start
  const { cpuMs } = Used.parse(await daemon.exchange({ type: 'meter' }))
  // Wait until the memory of the start is released.
  await sleep(12_000)
  const { residentMb: megabytes } = Used.parse(await daemon.exchange({ type: 'meter' }))
  await daemon.stop()
  return { ms, cpuMs, megabytes }
}
