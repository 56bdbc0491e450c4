/** The log of an aborted request contains nothing that the client sent. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createLog } from '../../src/foundation/log.ts'
import { encryptedType } from '../../src/exchange/didcomm/jwe.ts'
import { startAgent } from '../support/agent.ts'

const secret = 'a-secret-of-the-caller'

/** A chunked body with an invalid size of its first chunk. */
function breakOff(url: string, path: string, type: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: ${type}\r\napikey: ${secret}\r\nTransfer-Encoding: chunked\r\n\r\n`
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${head}ffffffffffffffffff\r\n${secret}`),
    )
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

test('an aborted request is logged like any other, without its bytes and without a warning', async () => {
  const lines: { level: number; msg: string }[] = []
  const text: string[] = []
  const log = createLog('debug', {
    write(line) {
      text.push(line)
      lines.push(JSON.parse(line) as (typeof lines)[number])
    },
  })
  await using agent = await startAgent({}, { log })
  await breakOff(agent.url, '/connections', 'application/json')
  await breakOff(agent.didcommUrl, '/', encryptedType)
  const requests = () => lines.filter(({ msg }) => msg === 'request')
  await expect.poll(requests).toHaveLength(2)
  expect(lines.filter(({ level }) => level > 30)).toEqual([])
  expect(text.join('')).not.toContain(secret)
  expect(text.join('')).not.toContain('rawPacket')
})
