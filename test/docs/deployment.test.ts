/** The files of `deploy/` fit the program: variables, ports, paths, and each other. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { routes } from '../../daemon/routes/index.ts'
import { parseConfig, variables } from '../../src/foundation/config/config.ts'

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8')
const paths = new Set(routes.map(({ key }) => key.replace(/^GET /, '')))
const ports = [variables.AGENT_HTTP_PORT, variables.AGENT_DIDCOMM_PORT].map((port) => port.parse(undefined))

/** The names of variables that the agent does not have. */
const unknownOf = (names: readonly string[]) =>
  names.filter((name) => !Object.hasOwn(variables, name.replace(/_FILE$/, '')))

/** The faults of a configuration, in which each secret file has a valid value. */
function faultsOf(env: Record<string, string>) {
  const values: Record<string, string> = {
    AGENT_DATABASE_URL_FILE: 'postgres://agent:secret@postgres/agent',
    AGENT_MASTER_KEY_FILE: '/run/secrets/master-key',
    ADMIN_TOKEN_FILE: 'x'.repeat(48),
  }
  const given = Object.entries(env).map(([name, value]) =>
    name === 'AGENT_MASTER_KEY_FILE' || !name.endsWith('_FILE')
      ? [name, value]
      : [name.replace(/_FILE$/, ''), values[name]!],
  )
  return parseConfig({ AGENT_DATA_DIR: '/data', AGENT_HOST: '0.0.0.0', ...Object.fromEntries(given) }).wrong
}

const Service = z.looseObject({
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).default([]),
})
const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.unknown()),
})

test('compose: the nodes have valid settings, names of their own, and secrets that exist', () => {
  const { services, secrets, volumes } = Compose.parse(parse(read('nodes/compose.yaml'), { merge: true }))
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'))
  expect(nodes).toHaveLength(3)
  for (const [name, { environment }] of nodes) {
    expect(unknownOf(Object.keys(environment))).toEqual([])
    expect(faultsOf(environment)).toEqual([])
    expect(environment['AGENT_NODE_NAME']).toBe(name)
    expect(environment['AGENT_NODE_ADDRESS']).toBe(`${name}:7000`)
  }
  const { environment } = services['caddy']!
  const addresses = (port: number) => nodes.map(([name]) => `${name}:${port}`).join(' ')
  expect([environment['AGENT_API'], environment['AGENT_DIDCOMM']]).toEqual(ports.map(addresses))
  for (const service of Object.values(services)) {
    expect(service.secrets.filter((name) => !Object.hasOwn(secrets, name))).toEqual([])
    const dependencies = Array.isArray(service.depends_on)
      ? service.depends_on
      : Object.keys(service.depends_on)
    expect(dependencies.filter((name) => !Object.hasOwn(services, name))).toEqual([])
    for (const volume of service.volumes) {
      const [from = ''] = volume.split(':')
      if (from.startsWith('./'))
        expect(readdirSync(new URL('../../deploy/nodes', import.meta.url))).toContain(from.slice(2))
      else expect(Object.keys(volumes)).toContain(from)
    }
  }
})

test('Caddy asks a path that exists, at the port of the API', () => {
  const caddyfile = read('nodes/Caddyfile')
  expect(paths).toContain(/health_uri (\S+)/.exec(caddyfile)?.[1])
  expect(Number(/health_port (\d+)/.exec(caddyfile)?.[1])).toBe(ports[0])
})

const Labels = z.record(z.string(), z.string())
const Probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) })
const Container = z.looseObject({
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
  volumeMounts: z.array(z.looseObject({ name: z.string() })),
  startupProbe: Probe,
  readinessProbe: Probe,
  livenessProbe: Probe,
})
const Deployment = z.looseObject({
  kind: z.literal('Deployment'),
  spec: z.looseObject({
    replicas: z.literal(3),
    selector: z.object({ matchLabels: Labels }),
    template: z.looseObject({
      metadata: z.object({ labels: Labels }),
      spec: z.looseObject({
        containers: z.tuple([Container]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
})
const Kustomization = z.looseObject({
  resources: z.array(z.string()),
  configMapGenerator: z.tuple([z.object({ name: z.string(), literals: z.array(z.string()) })]),
})

test('Kubernetes: settings are valid, and ports, probes, selectors and volumes fit each other', () => {
  const { resources, configMapGenerator } = Kustomization.parse(parse(read('kubernetes/kustomization.yaml')))
  expect(readdirSync(new URL('../../deploy/kubernetes', import.meta.url)).toSorted()).toEqual(
    [...resources, 'kustomization.yaml'].toSorted(),
  )
  const { spec } = Deployment.parse(parse(read('kubernetes/nodes.yaml')))
  const { containers, volumes } = spec.template.spec
  const [container] = containers
  const settings = Object.fromEntries(
    configMapGenerator[0].literals.map((each) => each.split(/=(.*)/s, 2) as [string, string]),
  )
  const own = container.env.filter(({ name }) => name !== 'POD_IP')
  expect(unknownOf([...Object.keys(settings), ...own.map(({ name }) => name)])).toEqual([])
  const values = own.map(({ name, value }) => [name, (value ?? 'nodes-1').replace('$(POD_IP)', '10.0.0.1')])
  expect(faultsOf({ ...settings, ...Object.fromEntries(values) })).toEqual([])
  const portOf = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))
  expect([portOf['api'], portOf['didcomm']]).toEqual(ports)
  expect(Object.fromEntries(values)['AGENT_NODE_ADDRESS']).toBe(`10.0.0.1:${portOf['node']}`)
  for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
    expect(paths).toContain(httpGet.path)
    expect(httpGet.port).toBe('api')
  }
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name))
  expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
  const others = ['services', 'network-policy', 'disruption-budget'].flatMap((name) =>
    parseAllDocuments(read(`kubernetes/${name}.yaml`)).map((document) => JSON.stringify(document)),
  )
  expect(others).toHaveLength(4)
  for (const text of others) {
    expect(text).toContain(JSON.stringify(spec.selector.matchLabels).slice(1, -1))
    for (const [, port] of text.matchAll(/"(?:targetPort|port)":"([^"]+)"/g))
      expect(portOf).toHaveProperty(port!)
  }
})
