/** A mediator in a process of its own, with limits that a measurement does not reach, and enrolled wallets. */
import { Pool } from 'undici'
import { join } from 'node:path'
import { assemble } from '../../test/support/assemble.ts'
import { Daemon, thisProgram } from '../../test/support/daemon.ts'
import { forwardOf, mediateRequest, newWallet, packFor } from '../../test/exchange/mediator/_mediator.ts'
import { meter, Used } from '../flows/_setup.ts'

const many = '1000000000'
const limits = {
  AGENT_MEDIATOR: 'true',
  AGENT_CONNECTIONS_PER_ADDRESS: '20000',
  MEDIATOR_ACCOUNT_LIMIT: many,
  MEDIATOR_QUEUE_LIMIT: many,
  MEDIATOR_QUEUE_BYTES: many,
  MEDIATOR_ENROLMENTS_PER_HOUR: many,
  MEDIATOR_ENROLMENTS_PER_DAY: many,
  MEDIATOR_MESSAGES_PER_MINUTE: many,
  MEDIATOR_SOCKETS_PER_ADDRESS: '20000',
}

/** The programs to measure by name: this build, and the one in the folder `BENCH_BEFORE` if that is set. */
export function programs(): Record<string, string> {
  const before = process.env['BENCH_BEFORE']
  return { ...(before && { before: join(before, 'bin/daemon.cjs') }), after: thisProgram }
}

export type Mediator = Awaited<ReturnType<typeof openMediator>>

export function openMediator(program: string, env: Record<string, string> = {}) {
  return assemble(async (use) => {
    const daemon = use(
      await Daemon.start({ ...limits, NODE_OPTIONS: `--import=${meter}`, ...env }, [], program),
    )
    const pool = new Pool(daemon.didcommUrl, { connections: 64 })
    use({ [Symbol.asyncDispose]: () => pool.close() })
    const did = await (await fetch(`${daemon.didcommUrl}/did`)).text()
    const post = async (body: string, expected: number) => {
      const headers = { 'content-type': 'application/didcomm-encrypted+json' }
      const response = await pool.request({ path: '/', method: 'POST', headers, body })
      const text = await response.body.text()
      if (response.statusCode !== expected) throw new Error(`status ${response.statusCode}: ${text}`)
    }
    return {
      daemon,
      did,
      async enrol() {
        const wallet = newWallet()
        await post(wallet.pack(did, { type: mediateRequest }), 200)
        return wallet.did
      },
      /** A forward of a message of 1 kB. */
      pack(recipient: string) {
        const text = 'x'.repeat(700)
        return packFor(did, forwardOf(recipient, packFor(recipient, { type: 'x:y', body: { text } })))
      },
      forward: (envelope: string) => post(envelope, 202),
      used: async (collect = false) => Used.parse(await daemon.exchange({ type: 'meter', collect })),
    }
  })
}
