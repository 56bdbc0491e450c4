/** Routes are found by all of a path and the method, the parts that are written out first (the paths themselves: paths.test.ts). */
import { expect, test } from 'vitest'
import { createRouteFinder } from '../../daemon/http/find-route.ts'
import { splitKey } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'

const keys = ['GET /a/{x}/c', 'GET /a/b/d', 'GET /a/{y}', 'POST /a/b', 'DELETE /{z}/b'] as const
const find = createRouteFinder(keys.map((key) => [key, key] as const))

test.each([
  ['GET', '/a/b/d', 'GET /a/b/d', {}],
  ['GET', '/a/b/c', 'GET /a/{x}/c', { x: 'b' }],
  ['POST', '/a/b', 'POST /a/b', {}],
  ['GET', '/a/b', 'GET /a/{y}', { y: 'b' }],
  ['HEAD', '/a/b/', 'GET /a/{y}', { y: 'b' }],
  ['DELETE', '/a/b', 'DELETE /{z}/b', { z: 'a' }],
  ['GET', '/a/__proto__', 'GET /a/{y}', { y: '__proto__' }],
])('%s %s is %s', (method, path, value, params) => {
  expect(find(method, path)).toEqual({ value, params })
})

test.each([
  ['GET', ''],
  ['GET', '/'],
  ['GET', 'a/b/d'],
  ['GET', '/a'],
  ['GET', '/a//c'],
  ['GET', '/a/b/d/e'],
  ['OPTIONS', '*'],
  ['DELETE', '//b'],
  ['POST', '/a/c'],
  ['constructor', '/a/b'],
])('%s %s is none', (method, path) => {
  expect(find(method, path)).toBeUndefined()
})

test('every route of the agent is found by its own key', () => {
  const all = createRouteFinder(routes.map(({ key }) => [key, key] as const))
  for (const { key } of routes) {
    const [method, path] = splitKey(key)
    expect(all(method, path.replaceAll(/[{}]/g, '-'))?.value).toBe(key)
  }
})
