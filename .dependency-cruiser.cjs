/** The import arrows of the design (§8): domain ◄ workflows, domain ◄ activities ◄ src/main.worker, domain ◄ src. */

const ourFolders = '^(activities|src|tools|examples|bench|test|workflows|web)/';
const spec = '\\.(spec|test)\\.ts$';
/** Whoever reaches the world: never from pure code. */
const builtins = ['core'];
const frameworks = 'node_modules/(@nestjs|@temporalio|@modelcontextprotocol|redis|@redis|undici|pino|express)/';

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'two files that need each other are one idea, or a third one is missing',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'domain-imports-only-domain',
      severity: 'error',
      from: { path: '^domain/', pathNot: spec },
      to: { path: ourFolders },
    },
    {
      name: 'domain-has-no-frameworks',
      severity: 'error',
      from: { path: '^domain/', pathNot: spec },
      to: { path: frameworks },
    },
    {
      name: 'domain-does-no-io',
      comment: 'node:crypto is for digests, node:url for the names of hosts; everything else of Node reaches the world',
      severity: 'error',
      from: { path: '^domain/', pathNot: spec },
      to: { dependencyTypes: builtins, pathNot: '^(node:)?(crypto|url)$' },
    },
    {
      name: 'workflows-import-only-domain',
      comment: 'types of activities may be named, their code never enters the sandbox',
      severity: 'error',
      from: { path: '^workflows/', pathNot: spec },
      to: { path: '^(activities|src|tools|examples|bench|test|web)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-never-name-src',
      severity: 'error',
      from: { path: '^workflows/', pathNot: spec },
      to: { path: '^(src|tools|examples|bench|test|web)/' },
    },
    {
      name: 'workflows-are-deterministic',
      severity: 'error',
      from: { path: '^workflows/', pathNot: spec },
      to: { path: 'node_modules/', pathNot: 'node_modules/@temporalio/(workflow|common)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-have-no-node',
      severity: 'error',
      from: { path: '^workflows/', pathNot: spec },
      to: { dependencyTypes: builtins },
    },
    {
      name: 'workflow-domain-has-no-digest',
      comment: 'the sandbox has no crypto: a digest is made by an activity or the API',
      severity: 'error',
      from: { path: '^workflows/', pathNot: spec },
      to: { path: '^domain/digest\\.ts$', reachable: true },
    },
    {
      name: 'activities-use-no-workflow-code',
      severity: 'error',
      from: { path: '^activities/', pathNot: spec },
      to: { path: '^workflows/', pathNot: '^workflows/messages\\.ts$' },
    },
    {
      name: 'src-meets-activities-only-in-the-worker',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(main\\.worker\\.ts$|worker\\.module\\.ts$|worker/)|${spec}` },
      to: { path: '^activities/' },
    },
    {
      name: 'src-knows-workflows-by-their-messages',
      severity: 'error',
      from: { path: '^src/', pathNot: spec },
      to: { path: '^workflows/', pathNot: '^workflows/messages\\.ts$' },
    },
    {
      name: 'product-does-not-import-tools',
      severity: 'error',
      from: { path: '^(domain|workflows|activities|src)/', pathNot: spec },
      to: { path: '^(tools|examples|bench|test)/' },
    },
    {
      name: 'mains-are-separate',
      comment: 'the API works without a worker and brings none',
      severity: 'error',
      from: { path: '^src/main\\.api\\.ts$' },
      to: { path: '^(activities/(?!contract)|src/worker)', reachable: true },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      from: { path: '^(domain|workflows|activities|src)/', pathNot: spec },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'not-to-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};
