/** Data that leaves a data folder on purpose: a wallet export, imported by another daemon, and a backup. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Daemon } from '../../support/daemon.ts'

type Way = {
  from: Daemon
  to: Daemon
  adminKey: string
  walletId: string
  folder: string
  passphrase: string
  wrong: string
}

/** Transfers a wallet to the other daemon, after an attempt with a wrong passphrase, and makes a backup. */
export async function carry({ from, to, adminKey, walletId, folder, passphrase, wrong }: Way): Promise<void> {
  const ask = async (
    url: string,
    headers: Record<string, string>,
    body: string | Uint8Array,
    expected: number,
  ) => {
    const options = { method: 'POST', headers: { 'x-admin-api-key': adminKey, ...headers } }
    const response = await fetch(url, { ...options, body: body as NonNullable<RequestInit['body']> })
    const content = Buffer.from(await response.arrayBuffer())
    if (response.status !== expected) throw new Error(`${url}: ${content.toString('utf8')}`)
    return content
  }
  const json = { 'content-type': 'application/json' }
  const file = await ask(`${from.url}/wallets/${walletId}/export`, json, JSON.stringify({ passphrase }), 200)
  writeFileSync(join(folder, 'the.wallet'), file)
  const take = (secret: string, bytes: Uint8Array, expected: number) => {
    const headers = {
      'content-type': 'application/octet-stream',
      'x-passphrase': Buffer.from(secret).toString('base64url'),
    }
    return ask(`${to.url}/wallets/import`, headers, bytes, expected)
  }
  await take(wrong, file, 422)
  await take(passphrase, file.subarray(0, -1), 422)
  await take(wrong.slice(0, 8), file, 400)
  await take(passphrase, file, 201)
  await ask(`${from.url}/_system/backups`, json, JSON.stringify({ folder: join(folder, 'backup') }), 201)
}
