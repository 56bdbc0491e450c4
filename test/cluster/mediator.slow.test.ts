/** The mediator of three nodes: one of them has the role, and all of them answer. */
import { expect, test } from 'vitest'
import {
  deliveredIn,
  forwardOf,
  mediateGrant,
  mediateRequest,
  mediation2,
  newWallet,
  packFor,
  pickup,
  trustPing,
} from '../exchange/mediator/_mediator.ts'
import { openSocket } from '../exchange/mediator/_socket.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { until } from '../support/tenants.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

const post = (url: string, body: string) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/didcomm-encrypted+json' }, body })

const urlsOf = ({ daemons }: Nodes) => daemons.map(({ didcommUrl }) => didcommUrl)

test('a wallet is enrolled, gets its messages, and is served again after the node with the role has ended', async () => {
  await using nodes = await startNodes(['a', 'b', 'c'], { AGENT_MEDIATOR: 'true' })
  const dids = await Promise.all(urlsOf(nodes).map(async (url) => (await fetch(`${url}/did`)).text()))
  expect(new Set(dids).size).toBe(1)
  const did = dids[0]!
  const wallet = newWallet()
  for (const url of urlsOf(nodes)) {
    using socket = await openSocket(url, wallet)
    socket.send(wallet.pack(did, { type: mediateRequest }))
    expect((await socket.next()).type).toBe(mediateGrant)
    const update = { updates: [{ recipient_did: wallet.did, action: 'add' }] }
    socket.send(wallet.pack(did, { type: `${mediation2}/recipient-update`, body: update }))
    await socket.next()
    socket.send(wallet.pack(did, { type: `${pickup}/live-delivery-change`, body: { live_delivery: true } }))
    await socket.next()
    // Each node accepts a forward, and the wallet gets it on this socket.
    for (const other of urlsOf(nodes)) {
      const packed = packFor(wallet.did, { type: 'x:y' })
      expect((await post(other, packFor(did, forwardOf(wallet.did, packed)))).status).toBe(202)
      expect(deliveredIn(await socket.next())).not.toEqual([])
    }
  }

  const [{ name }] = (await nodes.read<{ name: string }>(
    'select name from shard join node on node.id = shard.node where shard.id = 0',
  )) as [{ name: string }]
  const owner = nodes.daemons.find(({ env }) => env['AGENT_NODE_NAME'] === name)!
  const others = nodes.daemons.filter((daemon) => daemon !== owner)
  using socket = await openSocket(others[0]!.didcommUrl, wallet)
  await owner.stop('SIGKILL')
  await socket.closed()
  await until(
    'the role is taken over',
    async () => (await post(others[1]!.didcommUrl, wallet.pack(did, { type: trustPing }))).status,
    (status) => status === 200,
  )
})
