/** The secrets of a delivered offer are in one delivery of a webhook: not on disk, in logs or in streams. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import { follow } from '../../support/events.ts'
import { addWebhook, deliverOffer, mail, messageOf, openLink, phone, press, stored } from './_delivery.ts'
import { addIssuer, codeOf, redeemOffer } from './_wallet.ts'

/** Whether a text is in a file, as a word of its own: six digits can be a part of another number. */
const isIn = (text: string, secret: string) => new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(text)

test('the code and the link are in one delivery alone', async () => {
  await using daemon = await Daemon.start({ AGENT_LOG_LEVEL: 'trace' })
  const tenant = await daemon.newTenant('issuer')
  const setup = await addIssuer(daemon, tenant)
  await using sender = await addWebhook(tenant, true)
  await using other = await addWebhook(tenant, false)
  const stream = await follow(daemon.url, { apikey: tenant.apiKey })

  const txCode = { length: 16, description: 'by text message' }
  const { recordId } = await deliverOffer(setup, { deliver: { to: mail, code: phone }, txCode })
  const link = await messageOf(sender, 'OfferDeliveryRequested', recordId)
  const code = await messageOf(sender, 'TransactionCodeDeliveryRequested', recordId)
  const [url, right] = [link.data['url']!, code.data['code']!]
  await stored(tenant, sender, code.id)
  await openLink(url)
  const { link: wallet } = await press(url)
  const secrets = [right, url.split('/').at(-1)!, await codeOf(wallet!)]
  const { contents } = await tenant.call('GET /events', { query: { limit: 100, offset: 0 } })
  const streamed = [...(await stream.take(1))]
  while (streamed.at(-1)!.id !== code.id) streamed.push(...(await stream.take(1)))
  stream.close()
  const { steps } = await tenant.call('GET /traces/{id}', { path: { id: recordId } })
  const record = await tenant.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  const last = contents.findLast(({ type }) => type === 'IssueCredentialRecordUpdated')!
  await other.waitFor('the last event', ({ id }) => id === last.id)
  expect((await redeemOffer(setup, wallet!, right)).status).toBe(200)
  await daemon.stop()

  const files = readdirSync(join(daemon.dataDir, '..'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(daemon.dataDir, '..', name))
    .filter((path) => statSync(path).isFile())
  const { stderr } = (await daemon.ended)!
  expect(stderr).toContain('/oid4vci/issuers/{issuerId}/d/{secret}')
  const places = {
    ...Object.fromEntries(files.map((path) => [path, readFileSync(path, 'latin1')])),
    log: stderr!,
    events: JSON.stringify(contents),
    stream: JSON.stringify(streamed),
    trace: JSON.stringify(steps),
    record: JSON.stringify(record),
    other: JSON.stringify(other.deliveries),
  }
  expect(Object.values(places).some((text) => text.includes(mail))).toBe(true)
  for (const secret of secrets)
    expect(
      Object.entries(places)
        .filter(([, text]) => isIn(text, secret))
        .map(([name]) => name),
    ).toEqual([])
  const holding = sender.deliveries.filter(({ event }) => isIn(JSON.stringify(event), right))
  expect(holding.map(({ event: { id } }) => id)).toEqual([code.id])
}, 120_000)
