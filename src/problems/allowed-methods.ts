/** Which methods the application has for a path: express knows, but answers 404 where RFC 9110 wants 405 with `Allow`. */

import type { Request } from 'express';

/** The part of express's router that is read here. */
export interface RouteLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

export function routeLayersOf(app: unknown): readonly RouteLayer[] {
  return (app as { router: { stack: RouteLayer[] } }).router.stack;
}

/** @returns upper-case method names, none when no route has the path */
export function allowedMethods(request: Request): string[] {
  const layers = routeLayersOf(request.app).filter((layer) => layer.route !== undefined && matches(layer, request.path));
  return [...new Set(layers.flatMap((layer) => Object.keys(layer.route?.methods ?? {})))]
    .map((name) => name.toUpperCase())
    .sort();
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded is no route's
  }
}
