'use strict';
for (const svg of document.querySelectorAll('svg.tl')) {
  const number = name => +svg.dataset[name];
  const begin = number('b'), long = number('e') - begin, left = number('l'), wide = number('r') - left;
  const make = (name, attributes, text) => {
    const it = document.createElementNS(svg.namespaceURI, name);
    for (const key in attributes) it.setAttribute(key, attributes[key]);
    if (text) it.textContent = text;
    return it;
  };
  const group = svg.querySelector('.z'), ruler = svg.querySelector('.ru');
  const frames = [...svg.querySelectorAll('.f:not(.v)')];
  const bottom = svg.viewBox.baseVal.height - 6;
  const tip = document.createElement('output'), bar = document.createElement('div');
  let from = 0, span = long, chosen = -1;

  const draw = () => {
    span = Math.min(Math.max(span, 1000), long);
    from = Math.min(Math.max(from, 0), long - span);
    const zoom = long / span;
    group.setAttribute('transform',
      `matrix(${zoom} 0 0 1 ${left - zoom * (left + from / long * wide)} 0)`);
    const least = span / 7, decade = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map(it => it * decade).find(it => it >= least);
    const [unit, per] = step >= 1e5 ? ['ms', 1e6] : step >= 100 ? ['us', 1e3] : ['ns', 1];
    ruler.replaceChildren();
    for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) {
      const x = left + (at - from) / span * wide;
      ruler.append(make('path', {class: 'g', d: `M${x} 20V${bottom}`}),
        make('text', {x, y: 14, 'text-anchor': x > left + wide - 24 ? 'end' : 'middle'},
          +(at / per).toFixed(6) + ' ' + unit));
    }
    svg.dataset.view = Math.round(from) + '-' + Math.round(from + span);
  };
  const zoom = (factor, at = from + span / 2) => {
    const next = Math.min(Math.max(span * factor, 1000), long);
    from = at - (at - from) * next / span;
    span = next;
    draw();
  };
  const time = event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    return from + Math.min(Math.max((x - left) / wide, 0), 1) * span;
  };
  const say = (frame, at) => {
    const text = frame ? frame.querySelector('title').textContent : '';
    tip.textContent = ((begin + at) / 1e9).toFixed(6) + ' s' + (text ? ' · ' + text : '');
    for (const it of svg.querySelectorAll('.on')) it.classList.remove('on');
    if (frame) frame.classList.add('on');
  };
  const go = by => {
    chosen = Math.min(Math.max(chosen + by, 0), frames.length - 1);
    const frame = frames[chosen];
    if (!frame) return;
    const shape = frame.lastElementChild.getBBox();
    const at = (shape.x + shape.width / 2 - left) / wide * long;
    if (at < from || at > from + span) from = at - span / 2;
    draw();
    say(frame, at);
  };
  const keys = {
    '+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2),
    '0': () => { from = 0; span = long; draw(); },
    ArrowLeft: () => { from -= span / 5; draw(); }, ArrowRight: () => { from += span / 5; draw(); },
    n: () => go(1), p: () => go(-1)
  };

  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey && document.activeElement !== svg) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : .8, time(event));
  }, {passive: false});
  svg.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  svg.addEventListener('dblclick', event => zoom(.25, time(event)));
  let held = null;
  svg.addEventListener('pointerdown', event => {
    held = {x: event.clientX, from};
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener('pointermove', event => {
    if (held && event.buttons) {
      const box = svg.getBoundingClientRect();
      const by = (event.clientX - held.x) / box.width * svg.viewBox.baseVal.width / wide * span;
      from = held.from - by;
      draw();
    } else {
      const under = document.elementFromPoint(event.clientX, event.clientY);
      say(under && svg.contains(under) ? under.closest('.f') : null, time(event));
    }
  });
  svg.addEventListener('pointerup', () => { held = null; });

  for (const [key, word] of [['+', 'zoom in'], ['-', 'zoom out'], ['ArrowLeft', 'earlier'],
    ['ArrowRight', 'later'], ['p', 'frame before'], ['n', 'next frame'], ['0', 'all']]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = word;
    button.addEventListener('click', () => keys[key]());
    bar.append(button);
  }
  bar.className = 'bar';
  tip.className = 'tip';
  tip.setAttribute('aria-live', 'polite');
  tip.textContent = 'Click, then turn the wheel or press + - ← → n p 0; drag to move.';
  svg.tabIndex = 0;
  svg.before(bar);
  svg.after(tip);
  const view = decodeURIComponent(location.hash).match(/^#(.+)@(\d+)-(\d+)$/);
  if (view && view[1] === svg.id) {
    from = +view[2];
    span = view[3] - view[2];
    svg.scrollIntoView({block: 'center'});
  }
  draw();
}
