/** Basic messages over a connection: reading and sending them. */
import type { Answer } from '../../client/api.ts'
import { connectionName, safeLine } from '../../format/text.ts'
import type { Connection } from '../data/data.ts'
import { newest } from '../data/load.ts'
import { wrap, type Row } from '../session/details.ts'
import type { ActionContext } from './action.ts'

type Message = Answer<'GET /messages'>['contents'][number]

/** Shows the messages of a connection, the newest last, and sends what is typed. */
export async function showMessages(context: ActionContext, connection: Connection): Promise<undefined> {
  const { connectionId } = connection
  const name = connectionName(connection)
  const load = async () => {
    const messages = await newest((query) =>
      context.call('GET /messages', { query: { ...query, connectionId } }),
    )
    return (columns: number) => messageRows(messages, name, columns)
  }
  context.say('Loading the messages …')
  context.showPage({
    title: `Messages with ${name}`,
    rows: await load(),
    reload: load,
    send: (content) => context.call('POST /messages', { body: { connectionId, content } }),
  })
}

const emptyText = 'There are no messages yet. Type one, and press Enter to send it.'
const indent = 2

function messageRows(messages: readonly Message[], name: string, columns: number): Row[] {
  const fit = (text: string) => wrap(text, Math.max(columns - indent - 1, 10))
  if (messages.length === 0) return fit(emptyText).map((text) => [{ text: `${' '.repeat(indent)}${text}` }])
  return messages.flatMap(({ direction, content, createdAt, sentAt, failure }): Row[] => {
    const isSent = direction === 'sent'
    const state =
      !isSent || sentAt !== undefined ? '' : failure === undefined ? ', not delivered yet' : ', not delivered'
    const lines = content.split('\n').flatMap((line) => fit(safeLine(line)))
    return [
      [
        { text: isSent ? 'You' : name, style: isSent ? 'strong' : 'chosen' },
        { text: `  ${createdAt.slice(0, 16).replace('T', ' ')} UTC${state}`, style: 'faint' },
      ],
      ...lines.map((text): Row => [{ text: `${' '.repeat(indent)}${text}` }]),
      ...(failure === undefined
        ? []
        : fit(`✗ ${safeLine(failure)}`).map((text): Row => [
            { text: `${' '.repeat(indent)}${text}`, style: 'bad' },
          ])),
    ]
  })
}
