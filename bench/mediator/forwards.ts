/** Forwards of 1 kB to enrolled wallets, each on the disk before its answer; by turns if there are two builds. */
import { assemble } from '../../test/support/assemble.ts'
import { percentile } from '../../test/faults/_samples.ts'
import { load } from '../_load.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { openMediator, programs, type Mediator } from './_setup.ts'

const [accounts, forwards] = [100, 1_000]

type Side = {
  name: string
  mediator: Mediator
  recipients: string[]
  found: Record<string, Row['figures'][]>
}

export async function measureForwards({ quick, concurrency }: Scale): Promise<Outcome> {
  await using sides = await assemble(async (use) => {
    const opened: Side[] = []
    for (const [name, program] of Object.entries(programs())) {
      const mediator = use(await openMediator(program))
      const recipients: string[] = []
      for (let n = 0; n < accounts; n++) recipients.push(await mediator.enrol())
      const side = { name, mediator, recipients, found: {} }
      for (let n = 0; n < (quick ? 1 : 4); n++) await measureRound(side, 64)
      opened.push({ ...side, found: {} })
    }
    return { opened }
  })
  const rounds = quick ? 3 : 7
  for (const atOnce of concurrency)
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides.opened : sides.opened.toReversed())
        await measureRound(side, atOnce)
  const rows = concurrency.flatMap((atOnce) =>
    sides.opened.map(({ name, found }) => ({ name, figures: mediansOf(found[atOnce]!) })),
  )
  return { tables: [{ title: 'Mediator: forwards of 1 kB', rows }], failures: [] }
}

async function measureRound({ mediator, recipients, found }: Side, concurrency: number): Promise<void> {
  const most = concurrency === 1 ? forwards / 5 : forwards
  const envelopes = Array.from({ length: most }, (_, n) => mediator.pack(recipients[n % accounts]!))
  await mediator.used()
  const from = performance.now()
  const once = () => mediator.forward(envelopes.pop()!)
  const { times, failed } = await load(once, { concurrency, seconds: 60, most })
  const seconds = (performance.now() - from) / 1_000
  const { cpuMs, mainMs } = await mediator.used()
  ;(found[concurrency] ??= []).push({
    concurrency,
    perSecond: times.length / seconds,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    cpuMs: cpuMs / times.length,
    mainMs: mainMs / times.length,
    failed,
  })
}

function mediansOf(all: readonly Row['figures'][]): Row['figures'] {
  const names = Object.keys(all[0]!) as (keyof Row['figures'])[]
  return Object.fromEntries(
    names.map((name) => [
      name,
      percentile(
        all.map((each) => each[name]!),
        0.5,
      ),
    ]),
  )
}
