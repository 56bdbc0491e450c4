/** The dashboard and the alerts use metrics and labels that exist. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { metricTable, type Definition } from '../../src/foundation/metric-table.ts'
import { startAgent } from '../support/agent.ts'
import { labelsOf, parseMetrics } from '../support/prometheus.ts'
import { alertsFile, dashboard, panelQueries, ruleQueries, rules } from './_queries.ts'
import { untilEnd } from '../support/shared.ts'

/** The labels of each name in a scrape; `any` for series that begin with use. */
const known = new Map<string, ReadonlySet<string>>()

const agent = await untilEnd(startAgent())
const families = parseMetrics(await (await agent.send('GET', '/_system/metrics')).text())
const note = (name: string, type: string, labels: readonly string[]) => {
  const all = new Set([...labels, 'job', 'instance'])
  if (type !== 'histogram') known.set(name, all)
  else {
    for (const part of ['_sum', '_count']) known.set(name + part, all)
    known.set(`${name}_bucket`, new Set([...all, 'le']))
  }
}
for (const [name, { type, samples }] of families)
  note(
    name,
    type,
    samples.flatMap(({ labels }) => Object.keys(labelsOf(labels))),
  )
for (const [name, { type, labels }] of Object.entries(metricTable as Record<string, Definition>))
  note(name, type, Object.keys(labels))
known.set('up', new Set(['job', 'instance']))

const words = /^(?:by|without|on|ignoring|and|or|unless|bool|offset)$/

/** The metrics of an expression with the labels that it selects, and the labels that it groups by. */
function namesIn(expr: string): { metrics: { name: string; labels: string[] }[]; groups: string[] } {
  const plain = expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, '')
  const groups = [...plain.matchAll(/\b(?:by|without|on)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(/\s*,\s*/),
  )
  const rest = plain.replaceAll(/\b(?:by|without|on)\s*\([^)]*\)/g, '')
  const metrics = [...rest.matchAll(/([a-zA-Z_:][\w:]*)(\{[^}]*\})?(?!\w*\s*\()/g)]
    .filter(([, name]) => !words.test(name!))
    .filter(
      ({ index, 0: match }) =>
        !/[\w:{,]$/.test(rest.slice(0, index)) && !/^\s*\(/.test(rest.slice(index + match.length)),
    )
    .map(([, name, selector = '']) => ({
      name: name!,
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
    }))
  return { metrics, groups: groups.filter((group) => group !== '') }
}

test('the names of an expression are found', () => {
  const expr =
    'histogram_quantile(0.95, sum by (le, kind) (rate(a_bucket{job=~"b|c", kind!="d"}[5m]))) / sum(up) > 1e9'
  expect(namesIn(expr)).toEqual({
    metrics: [
      { name: 'a_bucket', labels: ['job', 'kind'] },
      { name: 'up', labels: [] },
    ],
    groups: ['le', 'kind'],
  })
})

test('every query of the dashboard and of the alerts uses existing metrics and labels', () => {
  const wrong: string[] = []
  for (const { where, expr } of [...panelQueries, ...ruleQueries]) {
    const { metrics, groups } = namesIn(expr)
    expect(metrics.length, where).toBeGreaterThan(0)
    for (const { name, labels } of metrics) {
      const all = known.get(name)
      if (!all) wrong.push(`${where}: there is no ${name}`)
      else
        for (const label of [...labels, ...groups])
          if (!all.has(label)) wrong.push(`${where}: ${name} has no ${label}`)
    }
  }
  expect(wrong).toEqual([])
  expect([panelQueries.length, ruleQueries.length]).toEqual([expect.any(Number), rules.length])
  expect(panelQueries.length).toBeGreaterThan(35)
})

test('every metric but those of the Cloud Agent is in a panel', () => {
  const shown = panelQueries.flatMap(({ expr }) => namesIn(expr).metrics.map(({ name }) => name))
  const missing = Object.keys(metricTable).filter(
    (name) =>
      !name.includes('_flow_did_com_') &&
      !shown.some((each) => each.replace(/_(?:bucket|sum|count)$/, '') === name),
  )
  expect(missing).toEqual([])
})

test('the panels of the dashboard have ids of their own and do not overlap', () => {
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
})

test('the alerts fire when they should', ({ skip }) => {
  if (spawnSync('promtool', ['--version']).error) skip('promtool is not installed (Debian: prometheus)')
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  }
  run('check', 'rules', alertsFile)
  run('test', 'rules', fileURLToPath(new URL('alerts.test.yml', import.meta.url)))
})
