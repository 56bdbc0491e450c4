/** The types of routes. Most of these tests run in the compiler. */
import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import type { CallInput, Client } from '../../daemon/client/client.ts'
import { route, splitKey, type Input, type Reply } from '../../daemon/http/route.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'

const Thing = z.object({ id: z.string(), size: z.number().optional() })
const NewThing = z.object({ size: z.coerce.number<string>(), name: z.string().nullish() })

const made = route(
  'POST /things/{id}',
  {
    summary: 'Make a thing',
    operationId: 'makeThing',
    access: 'tenant',
    scopes: ['issuer'],
    path: { id: z.guid() },
    query: z.object({ dry: z.stringbool().optional() }),
    body: NewThing,
    reply: [201, Thing],
  },
  async ({ wallet }, { path, query, body }) => {
    expectTypeOf(wallet).toEqualTypeOf<Wallet>()
    expectTypeOf(path).toEqualTypeOf<{ readonly id: string }>()
    expectTypeOf(query).toEqualTypeOf<{ dry?: boolean | undefined }>()
    expectTypeOf(body).toEqualTypeOf<{ size: number; name?: string | null | undefined }>()
    return { id: path.id, size: body.size }
  },
)
const removed = route(
  'DELETE /things',
  { summary: 'Remove all', operationId: 'removeThings', access: 'admin', reply: [200, null] },
  async () => {},
)
type Two = readonly [typeof made, typeof removed]

test('a key is a method and a path', () => {
  expect(splitKey(made.key)).toEqual(['POST', '/things/{id}'])
  expect(splitKey(removed.key)).toEqual(['DELETE', '/things'])
})

test('input and reply follow from the contract', () => {
  type Made = (typeof made)['contract']
  expectTypeOf<Input<Made>['body']>().toEqualTypeOf<{ size: number; name?: string | null | undefined }>()
  expectTypeOf<Input<Made>['target']>().toEqualTypeOf<string>()
  expectTypeOf<Reply<Made>>().toEqualTypeOf<{ id: string; size?: number | undefined }>()
  expectTypeOf<Reply<(typeof removed)['contract']>>().toEqualTypeOf<void>()
  expectTypeOf<CallInput<Made>['body']>().toEqualTypeOf<{ size: string; name?: string | null | undefined }>()
})

/** Never called: it only has to compile. */
export async function client(call: Client<Two>): Promise<void> {
  const path = { id: 'x' }
  const thing = await call('POST /things/{id}', { path, body: { size: '1' } })
  expectTypeOf(thing).toEqualTypeOf<{ id: string; size?: number | undefined }>()
  await call('POST /things/{id}', { path, query: { dry: 'true' }, body: { size: '1', name: null } })
  expectTypeOf(await call('DELETE /things')).toEqualTypeOf<void>()
  // @ts-expect-error there is no such endpoint
  await call('POST /thing', {})
  // @ts-expect-error the body is missing
  await call('POST /things/{id}', { path })
  // @ts-expect-error the path is missing
  await call('POST /things/{id}', { body: { size: '1' } })
  // @ts-expect-error the body has no such field
  await call('POST /things/{id}', { path, body: { size: '1', sise: '1' } })
  // @ts-expect-error the query has no such parameter
  await call('POST /things/{id}', { path, query: { wet: 'true' }, body: { size: '1' } })
  // @ts-expect-error there is no body
  await call('DELETE /things', { body: {} })
}

test('a contract that does not fit its path or its handler does not compile', () => {
  const id = { id: z.string() }
  const both = { ...id, part: z.string() }
  const thing = { id: 'x' }
  // prettier-ignore
  const all = [
    // @ts-expect-error the path names an id that the contract does not describe
    route('GET /x/{id}', { summary: '', operationId: '', access: 'tenant', reply: [200, Thing] }, async () => thing),
    // @ts-expect-error the contract describes one of two names
    route('GET /x/{id}/{part}', { summary: '', operationId: '', access: 'tenant', path: id, reply: [200, Thing] }, async () => thing),
    // @ts-expect-error the contract describes a name that the path does not have
    route('GET /x', { summary: '', operationId: '', access: 'tenant', path: id, reply: [200, Thing] }, async () => thing),
    // @ts-expect-error one name too many
    route('GET /x/{id}', { summary: '', operationId: '', access: 'tenant', path: both, reply: [200, Thing] }, async () => thing),
    // @ts-expect-error the reply is not what the contract says
    route('GET /x', { summary: '', operationId: '', access: 'tenant', reply: [200, Thing] }, async () => ({ id: 1 })),
    // @ts-expect-error there is nothing to reply with
    route('GET /x', { summary: '', operationId: '', access: 'tenant', reply: [200, null] }, async () => thing),
    // @ts-expect-error a tenant's handler is not given the tenants
    route('GET /x', { summary: '', operationId: '', access: 'tenant', reply: [200, null] }, async ({ tenants }) => void tenants),
    // @ts-expect-error an administrator's handler has no wallet of its own
    route('GET /x', { summary: '', operationId: '', access: 'admin', reply: [200, null] }, async ({ wallet }) => void wallet),
    // @ts-expect-error a public handler does not know who calls
    route('GET /x', { summary: '', operationId: '', access: 'public', reply: [200, null] }, async ({ caller }) => void caller),
    // @ts-expect-error there is no such access
    route('GET /x', { summary: '', operationId: '', access: 'everyone', reply: [200, null] }, async () => {}),
    // @ts-expect-error there is no such method
    route('HEAD /x', { summary: '', operationId: '', access: 'public', reply: [200, null] }, async () => {}),
    // @ts-expect-error what a tenant may change must say with a key of which scope
    route('POST /x', { summary: '', operationId: '', access: 'tenant', reply: [200, null] }, async () => {}),
    // @ts-expect-error what is shared too
    route('DELETE /x', { summary: '', operationId: '', access: 'admin-or-tenant', reply: [200, null] }, async () => {}),
    // @ts-expect-error an administrator's token has no scopes
    route('POST /x', { summary: '', operationId: '', access: 'admin', scopes: ['issuer'], reply: [200, null] }, async () => {}),
    // @ts-expect-error there is no such scope
    route('POST /x', { summary: '', operationId: '', access: 'tenant', scopes: ['admin'], reply: [200, null] }, async () => {}),
    // @ts-expect-error another media type than those of the contract
    route('GET /x', { summary: '', operationId: '', access: 'public', media: ['text/html'], reply: [200, Thing] }, async () => ({
      type: 'text/plain',
      body: '',
    })),
  ]
  expect(all).toHaveLength(16)
})
