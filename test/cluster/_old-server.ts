/**
 * A server of the PostgreSQL protocol, version 3
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html), that says it is release 14.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

export type OldServer = AsyncDisposable & { readonly port: number }

const columns = {
  version: '140019',
  release: '14.19',
  role: 'agent',
  database: 'agent',
  bypasses: 'f',
  mayCreate: 't',
  fsync: 't',
  fullPageWrites: 't',
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

const int32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32()
const int16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer).swap16()
const text = (value: string) => Buffer.from(`${value}\0`)

const ready = message('Z', Buffer.from('I'))

/** The types of PostgreSQL: 25 is `text`, 23 `integer`, 16 `boolean`. */
const typeOf = (name: string, value: string) => (name === 'version' ? 23 : /^[tf]$/.test(value) ? 16 : 25)

const fields = Object.entries(columns).map(([name, value]) =>
  Buffer.concat([
    text(name),
    int32(0),
    int16(0),
    int32(typeOf(name, value)),
    int16(0xff_ff),
    int32(0xff_ff_ff_ff),
    int16(0),
  ]),
)
const values = Object.values(columns).map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]))

const answer = Buffer.concat([
  message('T', int16(fields.length), ...fields),
  message('D', int16(values.length), ...values),
  message('C', text('SELECT 1')),
  ready,
])

/** Every query gets the one row. */
export async function openOldServer(): Promise<OldServer> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    let isStarted = false
    socket.on('data', (data) => {
      if (!isStarted) {
        isStarted = true
        socket.write(
          Buffer.concat([message('R', int32(0)), message('S', text('server_version'), text('14.19')), ready]),
        )
      } else if (data.toString('latin1', 0, 1) === 'Q') socket.write(answer)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
